import { Body, Controller, Headers, HttpCode, Inject, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CLOCK, type Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { etagOf, seenVersion } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import { idOf } from './dead-letters.controller';
import { EditDto, OptionalReasonDto, ReasonDto, ReplayStartedDto } from './dead-letters.dto';
import {
  ApproveEdit,
  DiscardDeadLetter,
  EditDeadLetter,
  RefuseEdit,
  ReplayDeadLetter,
  RestoreDeadLetter,
} from './dead-letters.openapi';
import { LetterView } from './letter-view';
import type { DeadLetterViewDto } from './letter-view.dto';
import { Mending } from './mending';
import { editUnknown } from './refusals';
import { Replays } from './replays/replays';
import { ID } from './words';

@ApiTags('failures')
@Controller('v1/dead-letters')
export class MendingController {
  constructor(
    private readonly mending: Mending,
    private readonly views: LetterView,
    private readonly replays: Replays,
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post(':id/edits')
  @HttpCode(201)
  @Allow('operator', 'failures')
  @EditDeadLetter()
  async edit(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() { document, reason }: EditDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeadLetterViewDto> {
    await this.mending.edit(idOf(id), seenVersion(ifMatch), document, reason, by);
    return this.shown(id, by, reply);
  }

  @Post(':id/edits/:editId/approval')
  @HttpCode(200)
  @Allow('operator', 'failures')
  @ApproveEdit()
  async approve(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Param('editId') editId: string,
    @Body() { reason }: OptionalReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeadLetterViewDto> {
    await this.mending.decide(idOf(id), editIdOf(editId), 'approved', reason, by);
    return this.shown(id, by, reply);
  }

  @Post(':id/edits/:editId/refusal')
  @HttpCode(200)
  @Allow('operator', 'failures')
  @RefuseEdit()
  async refuse(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Param('editId') editId: string,
    @Body() { reason }: OptionalReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeadLetterViewDto> {
    await this.mending.decide(idOf(id), editIdOf(editId), 'refused', reason, by);
    return this.shown(id, by, reply);
  }

  @Post(':id/replay')
  @HttpCode(202)
  @Allow('support', 'failures')
  @ReplayDeadLetter()
  async replay(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Body() { reason }: ReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReplayStartedDto> {
    const one = { parkedId: idOf(id), by, reason };
    const replayId = await this.database.transaction((tx) => this.replays.replayOne(tx, one, this.clock.now()));
    void reply.header('location', `/v1/replays/${replayId}`);
    return { replayId };
  }

  @Post(':id/discard')
  @HttpCode(200)
  @Allow('operator', 'failures')
  @DiscardDeadLetter()
  async discard(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() { reason }: ReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeadLetterViewDto> {
    await this.mending.discard(idOf(id), seenVersion(ifMatch), reason, by);
    return this.shown(id, by, reply);
  }

  @Post(':id/restore')
  @HttpCode(200)
  @Allow('operator', 'failures')
  @RestoreDeadLetter()
  async restore(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() { reason }: ReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeadLetterViewDto> {
    await this.mending.restore(idOf(id), seenVersion(ifMatch), reason, by);
    return this.shown(id, by, reply);
  }

  /** The message as it is now, and the ETag for the next change. */
  private async shown(id: string, by: Caller, reply: FastifyReply): Promise<DeadLetterViewDto> {
    const { letter, view } = await this.views.of(id, by);
    void reply.header('etag', etagOf(letter.version));
    return view;
  }
}

function editIdOf(id: string): string {
  if (!ID.test(id)) throw editUnknown();
  return id;
}
