import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { linkNext } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import { idOf } from './dead-letters.controller';
import { OptionalReasonDto } from './dead-letters.dto';
import { BODY_PROBLEMS, IdParam, LINK, operation } from './openapi';
import { ListParkedDto, ParkedDto, ParkedPageDto, RetriedDto, RetryParkedDto, RetryQueryDto } from './parked.dto';
import { ParkedList } from './parked-list';
import { Retrying } from './retrying';

@ApiTags('failures')
@Controller('v1/parked')
export class ParkedController {
  constructor(
    private readonly list: ParkedList,
    private readonly retrying: Retrying,
  ) {}

  @Get()
  @Allow('viewer', 'failures')
  @operation(
    'listParked',
    'List messages that wait for their next attempt or behind another one, oldest first',
    ['request-invalid', 'cursor-invalid'],
    ApiOkResponse({ type: ParkedPageDto, headers: LINK('/v1/parked') }),
  )
  async page(
    @TheCaller() by: Caller,
    @Query() query: ListParkedDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ParkedPageDto> {
    const { limit, cursor, ...filter } = query;
    const { items, nextCursor } = await this.list.page(filter, by.partners, limit, cursor);
    linkNext(reply, '/v1/parked', query, nextCursor);
    return { items: items.map((letter) => ParkedDto.of(letter)), nextCursor };
  }

  @Post('retry')
  @HttpCode(202)
  @Allow('support', 'failures')
  @operation(
    'retryParkedMessages',
    'Make waiting messages due now, at most 1,000; or with plan=true say how many it would be',
    BODY_PROBLEMS,
    ApiOkResponse({ type: RetriedDto, description: 'The plan: nothing was changed' }),
    ApiAcceptedResponse({ type: RetriedDto, description: 'They are due' }),
  )
  async many(
    @TheCaller() by: Caller,
    @Query() { plan }: RetryQueryDto,
    @Body() { reason, ...selection }: RetryParkedDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RetriedDto> {
    if (plan !== 'true') return this.retrying.many(selection, reason, by);
    void reply.status(200);
    return this.retrying.plan(selection, by);
  }

  @Post(':id/retry')
  @HttpCode(202)
  @Allow('support', 'failures')
  @operation(
    'retryParkedMessage',
    'Make a waiting message due now',
    [...BODY_PROBLEMS, 'parked-unknown', 'parked-not-waiting', 'partner-suspended'],
    ...[IdParam, ApiAcceptedResponse({ type: ParkedDto })],
  )
  async one(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Body() { reason }: OptionalReasonDto,
  ): Promise<ParkedDto> {
    return ParkedDto.of(await this.retrying.one(idOf(id), reason, by));
  }
}
