import { Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { etagOf, linkNext, matchesEtag } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import { DeadLetterDto, type DeadLetterPageDto } from './dead-letter.dto';
import { DeadLetterList } from './dead-letter-list';
import { ListDeadLettersDto } from './dead-letters.dto';
import { GetDeadLetter, GetDeadLetterValue, ListDeadLetters } from './dead-letters.openapi';
import { LetterView } from './letter-view';
import type { DeadLetterViewDto } from './letter-view.dto';
import { parkedUnknown } from './refusals';
import { ID } from './words';

@ApiTags('failures')
@Controller('v1/dead-letters')
export class DeadLettersController {
  constructor(
    private readonly list: DeadLetterList,
    private readonly views: LetterView,
  ) {}

  @Get()
  @Allow('viewer', 'failures')
  @ListDeadLetters()
  async page(
    @TheCaller() by: Caller,
    @Query() query: ListDeadLettersDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeadLetterPageDto> {
    const { limit, cursor, since, ...filter } = query;
    const from = since === undefined ? undefined : new Date(since);
    const { items, nextCursor } = await this.list.page({ ...filter, since: from }, by.partners, limit, cursor);
    linkNext(reply, '/v1/dead-letters', query, nextCursor);
    return { items: items.map((letter) => DeadLetterDto.of(letter)), nextCursor };
  }

  @Get(':id')
  @Allow('viewer', 'failures')
  @GetDeadLetter()
  async find(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeadLetterViewDto | undefined> {
    const { letter, view } = await this.views.of(idOf(id), by);
    const etag = etagOf(letter.version);
    // What is shown depends on who asks.
    void reply.header('etag', etag).header('cache-control', 'private, no-cache').header('vary', 'authorization');
    if (known !== undefined && matchesEtag(known, etag)) {
      void reply.status(304);
      return undefined;
    }
    return view;
  }

  @Get(':id/value')
  @Allow('support', 'failures')
  @GetDeadLetterValue()
  async value(@TheCaller() by: Caller, @Param('id') id: string, @Res() reply: FastifyReply): Promise<void> {
    sendValue(reply, id, (await this.views.value(idOf(id), by, false)).value);
  }
}

/** A record's value for download; none for a tombstone. */
export function sendValue(reply: FastifyReply, id: string, value: Buffer | null): void {
  void reply.header('content-disposition', `attachment; filename="dead-letter-${id}"`);
  if (value === null) void reply.status(204).send();
  else void reply.header('content-type', 'application/octet-stream').send(value);
}

/** What can be no id names no message. */
export function idOf(id: string): string {
  if (!ID.test(id)) throw parkedUnknown();
  return id;
}
