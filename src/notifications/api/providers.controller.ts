import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { linkNext, OptionalReasonDto, PageQuery } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import type { NotificationProviderDto, NotificationProviderPageDto } from './provider.dto';
import { ProviderDesk } from './provider-desk';
import { ListProviders, RetryProvider } from './providers.openapi';

@ApiTags('notifications')
@Controller('v1/notification-providers')
export class NotificationProvidersController {
  constructor(private readonly desk: ProviderDesk) {}

  @Get()
  @Allow('viewer', 'notifications')
  @ListProviders()
  async page(
    @TheCaller() by: Caller,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationProviderPageDto> {
    const page = await this.desk.page(by, query.limit, query.cursor);
    linkNext(reply, '/v1/notification-providers', query, page.nextCursor);
    return page;
  }

  @Post(':name/retry')
  @HttpCode(200)
  @Allow('operator', 'notifications')
  @RetryProvider()
  retry(
    @TheCaller() by: Caller,
    @Param('name') name: string,
    @Body() { reason }: OptionalReasonDto,
  ): Promise<NotificationProviderDto> {
    return this.desk.retry(name, reason, by);
  }
}
