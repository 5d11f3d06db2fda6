import { Body, Controller, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { etagOf, ReasonDto, seenVersion } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import { NotificationActions } from './notification-actions';
import type { NotificationViewDto, UnmaskedNotificationDto } from './notification.dto';
import { ResolutionDto } from './notification-requests.dto';
import { NotificationViews } from './notification-views';
import {
  CancelNotification,
  ResendNotification,
  ResolveNotification,
  UnmarkNotification,
  UnmaskNotification,
} from './notifications.openapi';

@ApiTags('notifications')
@Controller('v1/notifications')
export class NotificationActionsController {
  constructor(
    private readonly actions: NotificationActions,
    private readonly views: NotificationViews,
  ) {}

  /** A repeat is told that the version has changed: nothing is sent twice by a second click. */
  @Post(':id/resend')
  @HttpCode(201)
  @Allow('support', 'notifications')
  @ResendNotification()
  async resend(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() { reason }: ReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationViewDto> {
    const made = await this.actions.resend({ id, seen: seenVersion(ifMatch), reason, by });
    void reply.header('location', `/v1/notifications/${made.id}`);
    return this.shown(made.id, by, reply);
  }

  @Post(':id/cancellation')
  @HttpCode(200)
  @Allow('support', 'notifications')
  @CancelNotification()
  async cancel(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() { reason }: ReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationViewDto> {
    await this.actions.cancel({ id, seen: seenVersion(ifMatch), reason, by });
    return this.shown(id, by, reply);
  }

  @Post(':id/resolution')
  @HttpCode(200)
  @Allow('support', 'notifications')
  @ResolveNotification()
  async resolve(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() { reason, outcome }: ResolutionDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationViewDto> {
    await this.actions.resolve({ id, seen: seenVersion(ifMatch), reason, by }, outcome);
    return this.shown(id, by, reply);
  }

  /** A repeat is told that there is no mark any more. */
  @Post(':id/unmarking')
  @HttpCode(200)
  @Allow('support', 'notifications')
  @UnmarkNotification()
  async unmark(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Body() { reason }: ReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationViewDto> {
    await this.actions.unmark({ id, reason, by });
    return this.shown(id, by, reply);
  }

  @Post(':id/unmasking')
  @HttpCode(200)
  @Allow('support', 'notifications')
  @UnmaskNotification()
  async unmask(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Body() { reason }: ReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UnmaskedNotificationDto> {
    const shown = await this.actions.unmask(id, reason, by);
    void reply.header('etag', etagOf(shown.version)).header('cache-control', 'no-store');
    return shown;
  }

  /** The notification as it is now, and the ETag for the next change. */
  private async shown(id: string, by: Caller, reply: FastifyReply): Promise<NotificationViewDto> {
    const view = await this.views.of(id, by);
    void reply.header('etag', etagOf(view.version));
    return view;
  }
}
