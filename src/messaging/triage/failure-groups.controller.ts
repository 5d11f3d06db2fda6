import { Body, Controller, Get, Headers, Inject, Param, Patch, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CLOCK, type Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { etagOf, linkNext, seenVersion } from '../../platform/http';
import { Allow, audit, type Caller, TheCaller } from '../../staff';
import { ChangeGroupDto, FailureGroupDto, FailureGroupPageDto, ListGroupsDto } from './failure-group.dto';
import { FailureGroups } from './failure-groups';
import { BODY_PROBLEMS, ETAG, IfMatch, LINK, operation, STALE } from './openapi';
import { groupOfAllPartners, groupUnknown } from './refusals';
import { WORD } from './words';

const Fingerprint = ApiParam({ name: 'fingerprint', example: '9f86d081884c7d65' });
const Shown = ApiOkResponse({ type: FailureGroupDto, headers: ETAG });

@ApiTags('failures')
@Controller('v1/dead-letter-groups')
export class FailureGroupsController {
  constructor(
    private readonly groups: FailureGroups,
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Allow('viewer', 'failures')
  @operation(
    'listDeadLetterGroups',
    'List dead letters by cause, most frequent first',
    ['request-invalid', 'cursor-invalid'],
    ApiOkResponse({ type: FailureGroupPageDto, headers: LINK('/v1/dead-letter-groups') }),
  )
  async page(
    @TheCaller() by: Caller,
    @Query() query: ListGroupsDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FailureGroupPageDto> {
    const { items, nextCursor } = await this.groups.page(query.state, by.partners, query.limit, query.cursor);
    linkNext(reply, '/v1/dead-letter-groups', query, nextCursor);
    return { items: items.map((group) => FailureGroupDto.of(group)), nextCursor };
  }

  @Get(':fingerprint')
  @Allow('viewer', 'failures')
  @operation('getDeadLetterGroup', 'Show a cause of dead letters', ['group-unknown'], Fingerprint, Shown)
  async find(
    @TheCaller() by: Caller,
    @Param('fingerprint') fingerprint: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FailureGroupDto> {
    const group = WORD.test(fingerprint) ? await this.groups.find(fingerprint, by.partners) : undefined;
    if (!group) throw groupUnknown();
    void reply.header('etag', etagOf(group.version));
    return FailureGroupDto.of(group);
  }

  @Patch(':fingerprint')
  @Allow('support', 'failures')
  @operation(
    'changeDeadLetterGroup',
    'Say who works on a cause, and leave a note for colleagues',
    [...BODY_PROBLEMS, 'group-unknown', ...STALE],
    ...[Fingerprint, IfMatch, Shown],
  )
  async change(
    @TheCaller() by: Caller,
    @Param('fingerprint') fingerprint: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() { assignee, note }: ChangeGroupDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FailureGroupDto> {
    const version = seenVersion(ifMatch);
    const now = this.clock.now();
    if (!WORD.test(fingerprint) || !(await this.groups.find(fingerprint, by.partners))) throw groupUnknown();
    if (by.partners !== null) throw groupOfAllPartners();
    await this.database.transaction(async (tx) => {
      await this.groups.change(tx, fingerprint, version, { assignee, note }, by.id, now);
      // That there is a note, not what it says: it may be taken back, the book not.
      const detail = { assignee, note: note === undefined ? undefined : note === null ? 'taken away' : 'written' };
      await audit(tx, { by, action: 'group.change', object: `group/${fingerprint}`, detail }, now);
    });
    return this.find(by, fingerprint, reply);
  }
}
