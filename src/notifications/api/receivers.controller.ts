import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Put, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { NonRetriableError } from '../../platform/errors';
import { etagOf, linkNext, PageQuery, seenVersion } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import { ReceiverBodyDto } from './receiver-body.dto';
import { ReceiverDesk, type SeenReceiver } from './receiver-desk';
import type { PutReceiverDto, ReceiverDto, ReceiverPageDto } from './receiver.dto';
import { ReceiverViews } from './receiver-views';
import { DeleteReceiver, GetReceiver, ListReceivers, PutReceiver } from './receivers.openapi';

@ApiTags('notifications')
@Controller('v1/notification-receivers')
export class NotificationReceiversController {
  constructor(
    private readonly views: ReceiverViews,
    private readonly desk: ReceiverDesk,
  ) {}

  @Get()
  @Allow('viewer', 'notifications')
  @ListReceivers()
  async page(
    @TheCaller() by: Caller,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReceiverPageDto> {
    const page = await this.views.page(by, query.limit, query.cursor);
    linkNext(reply, '/v1/notification-receivers', query, page.nextCursor);
    return page;
  }

  @Get(':id')
  @Allow('viewer', 'notifications')
  @GetReceiver()
  async find(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReceiverDto> {
    const receiver = await this.views.of(id, by);
    void reply.header('etag', etagOf(receiver.version));
    return receiver;
  }

  @Put(':id')
  @Allow('operator', 'notifications')
  @PutReceiver()
  async put(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Headers() headers: Record<string, string | undefined>,
    @Body() body: ReceiverBodyDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PutReceiverDto> {
    const { made, webhookSecret } = await this.desk.put({ id, body, seen: seenIn(headers), by });
    const receiver = await this.views.of(id, by);
    void reply
      .status(made ? 201 : 200)
      .header('etag', etagOf(receiver.version))
      .header('cache-control', 'no-store');
    if (made) void reply.header('location', `/v1/notification-receivers/${id}`);
    return { ...receiver, webhookSecret };
  }

  @Delete(':id')
  @HttpCode(204)
  @Allow('operator', 'notifications')
  @DeleteReceiver()
  async remove(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<void> {
    await this.desk.remove(id, seenVersion(ifMatch), by);
  }
}

/** Who makes one may say that it must not be there; who replaces one must have looked at it. */
function seenIn({
  'if-match': ifMatch,
  'if-none-match': ifNoneMatch,
}: Record<string, string | undefined>): SeenReceiver {
  if (ifMatch !== undefined) return seenVersion(ifMatch);
  if (ifNoneMatch === undefined) return undefined;
  if (ifNoneMatch.trim() === '*') return 'absent';
  throw new NonRetriableError('request-invalid', 'The header If-None-Match can only be *: make it, replace nothing.', {
    violations: [{ pointer: 'If-None-Match', detail: 'must be *' }],
  });
}
