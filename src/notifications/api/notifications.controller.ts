import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { etagOf, linkNext } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import type { NotificationPageDto, NotificationViewDto } from './notification.dto';
import { ListNotificationsDto } from './notification-requests.dto';
import { NotificationViews } from './notification-views';
import { GetNotification, ListNotifications } from './notifications.openapi';

@ApiTags('notifications')
@Controller('v1/notifications')
export class NotificationsController {
  constructor(private readonly views: NotificationViews) {}

  @Get()
  @Allow('viewer', 'notifications')
  @ListNotifications()
  async page(
    @TheCaller() by: Caller,
    @Query() query: ListNotificationsDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationPageDto> {
    const { limit, cursor, ...filter } = query;
    const page = await this.views.page(filter, by, limit, cursor);
    linkNext(reply, '/v1/notifications', query, page.nextCursor);
    return page;
  }

  /** Never "unchanged": what is said of it depends on its provider, whose changes are no version of this one. */
  @Get(':id')
  @Allow('viewer', 'notifications')
  @GetNotification()
  async find(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationViewDto> {
    const view = await this.views.of(id, by);
    void reply.header('etag', etagOf(view.version));
    return view;
  }
}
