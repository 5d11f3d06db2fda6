import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Database } from '../../platform/database';
import { linkNext } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import {
  DiscardOutboundDto,
  ListParkedOutboundDto,
  OutboxStatusDto,
  ParkedOutboundDto,
  type ParkedOutboundPageDto,
  RetryOutboundDto,
} from './outbox.dto';
import { DiscardOutbound, GetOutbox, ListParkedOutbound, RetryLane, RetryOutbound } from './outbox.openapi';
import { OutboundDesk } from './parking/outbound-desk';
import { outboxStatus } from './parking/outbox-status';
import { parkedPage } from './parking/parked-list';
import { laneNotParked, outboundUnknown } from './parking/refusals';

@ApiTags('outbox')
@Controller('v1/outbox')
export class OutboxController {
  constructor(
    private readonly database: Database,
    private readonly desk: OutboundDesk,
  ) {}

  @Get()
  @Allow('viewer', 'outbox')
  @GetOutbox()
  async status(@TheCaller() by: Caller): Promise<OutboxStatusDto> {
    return OutboxStatusDto.of(await outboxStatus(this.database, await this.desk.topicsOf(by)));
  }

  @Get('parked')
  @Allow('viewer', 'outbox')
  @ListParkedOutbound()
  async parked(
    @TheCaller() by: Caller,
    @Query() query: ListParkedOutboundDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ParkedOutboundPageDto> {
    const { topic, state, limit, cursor } = query;
    const seen = await this.desk.topicsOf(by);
    const topics = topic === undefined ? seen : [topic].filter((name) => seen === null || seen.includes(name));
    const { items, nextCursor } = await parkedPage(this.database, { topics, state }, limit, cursor);
    linkNext(reply, '/v1/outbox/parked', query, nextCursor);
    return { items: items.map((message) => ParkedOutboundDto.of(message)), nextCursor };
  }

  @Post('lanes/:topic/:partition/retry')
  @HttpCode(202)
  @Allow('operator', 'outbox')
  @RetryLane()
  async retryLane(
    @TheCaller() by: Caller,
    @Param('topic') topic: string,
    @Param('partition') partition: string,
    @Body() { reason }: RetryOutboundDto,
  ): Promise<void> {
    if (!/^\d{1,4}$/.test(partition)) throw laneNotParked(topic, partition);
    await this.desk.retryLane(topic, Number(partition), reason, by);
  }

  @Post('messages/:seq/retry')
  @HttpCode(202)
  @Allow('operator', 'outbox')
  @RetryOutbound()
  async retry(
    @TheCaller() by: Caller,
    @Param('seq') seq: string,
    @Body() { reason }: RetryOutboundDto,
  ): Promise<ParkedOutboundDto> {
    return ParkedOutboundDto.of(await this.desk.retryMessage(seqOf(seq), reason, by));
  }

  @Post('messages/:seq/discard')
  @HttpCode(200)
  @Allow('operator', 'outbox')
  @DiscardOutbound()
  async discard(
    @TheCaller() by: Caller,
    @Param('seq') seq: string,
    @Body() { reason }: DiscardOutboundDto,
  ): Promise<ParkedOutboundDto> {
    return ParkedOutboundDto.of(await this.desk.discard(seqOf(seq), reason, by));
  }
}

function seqOf(text: string): string {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  throw outboundUnknown();
}
