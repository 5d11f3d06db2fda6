import type { NotificationViewDto } from '../../notifications';
import { AppError } from '../../platform/errors';
import type { ApiClient } from '../api-client';
import { localTimes } from '../terminal/words';
import { pathOf } from './show';

/** For what the API refuses since the notification was changed: the same, and where it stands now. */
export const sinceThen =
  (api: Pick<ApiClient, 'get'>, seen: NotificationViewDto) =>
  async (error: unknown): Promise<never> => {
    if (!(error instanceof AppError) || error.code !== 'version-stale') throw error;
    const now = await api.get<NotificationViewDto>(pathOf(seen.id));
    throw new AppError(error.code, `Notification ${seen.id} was changed meanwhile, and this changed nothing.`, {
      cause: new Error(`It was ${seen.state} and is ${now.state}. ${localTimes(now.standing)}`),
      hint: `Look at it: parley notifications show ${seen.id}`,
    });
  };
