import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CLOCK, type Clock } from '../../platform/clock';
import { Database, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { decodeCursor, linkNext, PageQuery, pageOf } from '../../platform/http';
import { Allow, audit, type Caller, mayPartner, TheCaller } from '../../staff';
import { type Channel, ChannelCatalog } from '../channels';
import { pauseChannel, pausedChannels, resumeChannel, SUSPENDED_FULL } from '../consumer';
import { ChannelDto, ChannelPageDto } from './channel.dto';
import { ReasonDto } from './dead-letters.dto';
import { BODY_PROBLEMS, LINK, operation } from './openapi';
import { topicUnknown } from './refusals';

const Topic = ApiParam({ name: 'topic', example: 'orders.acme.response.v1' });

@ApiTags('failures')
@Controller('v1/channels')
export class ChannelsController {
  constructor(
    private readonly channels: ChannelCatalog,
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Allow('viewer', 'failures')
  @operation(
    'listChannels',
    'List the topics of partners, and which of them are not read for now',
    ['request-invalid', 'cursor-invalid'],
    ApiOkResponse({ type: ChannelPageDto, headers: LINK('/v1/channels') }),
  )
  async page(
    @TheCaller() by: Caller,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ChannelPageDto> {
    const { limit, cursor } = query;
    const [after = ''] = cursor === undefined ? [] : decodeCursor(cursor, [/^[\w.-]{1,249}$/]);
    const seen = (await this.all(by)).filter(({ topic }) => topic > after);
    const { items, nextCursor } = pageOf(seen, limit, ({ topic }) => [topic]);
    const pauses = new Map((await pausedChannels(this.database)).map((pause) => [pause.channelId, pause]));
    linkNext(reply, '/v1/channels', query, nextCursor);
    return { items: items.map((channel) => ChannelDto.of(channel, pauses.get(channel.id))), nextCursor };
  }

  @Post(':topic/pause')
  @HttpCode(200)
  @Allow('operator', 'failures')
  @operation(
    'pauseChannel',
    'Stop reading a topic; what is in it stays there',
    [...BODY_PROBLEMS, 'topic-unknown', 'channel-outbound', 'channel-paused'],
    ...[Topic, ApiOkResponse({ type: ChannelDto })],
  )
  pause(@TheCaller() by: Caller, @Param('topic') topic: string, @Body() { reason }: ReasonDto): Promise<ChannelDto> {
    return this.change('pause', topic, reason, by, async (tx, { id, direction }, now) => {
      if (direction === 'out') {
        throw new NonRetriableError('channel-outbound', 'We write this topic; only what partners write is read.');
      }
      if (await pauseChannel(tx, { channelId: id, code: 'staff', reason, pausedBy: by.id }, now)) return;
      throw new NonRetriableError(
        'channel-paused',
        'The channel is paused already, and stays so for the first reason.',
      );
    });
  }

  @Post(':topic/resume')
  @HttpCode(200)
  @Allow('operator', 'failures')
  @operation(
    'resumeChannel',
    'Read a topic again, from where it was left',
    [...BODY_PROBLEMS, 'topic-unknown', 'channel-not-paused', 'partner-suspended'],
    ...[Topic, ApiOkResponse({ type: ChannelDto })],
  )
  resume(@TheCaller() by: Caller, @Param('topic') topic: string, @Body() { reason }: ReasonDto): Promise<ChannelDto> {
    return this.change('resume', topic, reason, by, async (tx, { id, partner }, now) => {
      const pause = (await pausedChannels(this.database)).find(({ channelId }) => channelId === id);
      if (pause?.code === SUSPENDED_FULL) {
        throw new NonRetriableError('partner-suspended', `It is not read because ${pause.reason}.`, {
          hint: `Resume ${partner}: then it is read again.`,
        });
      }
      if (await resumeChannel(tx, id, now)) return;
      throw new NonRetriableError('channel-not-paused', 'The channel is not paused.');
    });
  }

  private async change(
    verb: 'pause' | 'resume',
    topic: string,
    reason: string,
    by: Caller,
    work: (tx: Tx, channel: Channel, now: Date) => Promise<void>,
  ): Promise<ChannelDto> {
    const channel = (await this.all(by)).find((candidate) => candidate.topic === topic);
    if (!channel) throw topicUnknown();
    await this.database.transaction(async (tx) => {
      const now = this.clock.now();
      await work(tx, channel, now);
      const object = `channel/${topic}`;
      await audit(tx, { by, action: `channel.${verb}`, object, partner: channel.partner, reason }, now);
    });
    const pauses = await pausedChannels(this.database);
    return ChannelDto.of(
      channel,
      pauses.find(({ channelId }) => channelId === channel.id),
    );
  }

  /** What the caller may see, by topic. */
  private async all(by: Caller): Promise<Channel[]> {
    if ((await this.channels.currentVersion()) !== this.channels.version) await this.channels.load();
    return this.channels
      .all()
      .filter(({ partner }) => mayPartner(by, partner))
      .sort((a, b) => (a.topic < b.topic ? -1 : 1));
  }
}
