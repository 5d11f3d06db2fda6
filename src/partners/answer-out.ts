import type { FastifyReply } from 'fastify';
import { AppError, messageOf } from '../platform/errors';
import type { Logger } from '../platform/telemetry';

/**
 * Sends an answer that may hold a secret, which no cache keeps. Resolves when it was handed to the network; rejects with `caller-gone` when the caller
 * went away before.
 */
export function answerOut(reply: FastifyReply, answer: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new AppError('caller-gone', 'The caller went away before the answer was out.'));
    // It may have gone while the account was made: then no event comes any more, and the partner would stay locked.
    if (reply.raw.destroyed) return gone();
    reply.raw.once('finish', resolve);
    reply.raw.once('close', gone);
    void reply.status(200).header('cache-control', 'no-store').send(answer);
  });
}

/**
 * Runs what makes an account and answers by itself. A failure is thrown as long as it can be answered; afterwards, or when the caller went away, it stands in the log
 * with what it means.
 */
export async function answering(
  reply: FastifyReply,
  { log, partner, meaning }: { log: Logger; partner: string; meaning: string },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!reply.sent && !reply.raw.destroyed) throw error;
    log.error({ partner, code: 'account-untold', reason: messageOf(error) }, meaning);
  }
}
