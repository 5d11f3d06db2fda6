import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { NonRetriableError } from '../../../platform/errors';
import { linkNext } from '../../../platform/http';
import { Allow, type Caller, TheCaller } from '../../../staff';
import type { Replay } from './replay';
import { ReplayDto, ReplayItemDto, type ReplayItemPageDto, type ReplayPageDto } from './replay.dto';
import { ReplayList } from './replay-list';
import { Replays } from './replays';
import {
  ListReplayItemsDto,
  ListReplaysDto,
  PlanQueryDto,
  ReplayReasonDto,
  ReplayRequestDto,
  type SelectionDto,
} from './replays.dto';
import {
  CancelReplay,
  CreateReplay,
  GetReplay,
  ListReplayItems,
  ListReplays,
  PauseReplay,
  ResumeReplay,
} from './replays.openapi';
import { replayUnknown } from './refusals';

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;

@ApiTags('failures')
@Controller('v1/replays')
export class ReplaysController {
  constructor(
    private readonly replays: Replays,
    private readonly list: ReplayList,
  ) {}

  @Post()
  @Allow('support', 'failures')
  @CreateReplay()
  async create(
    @TheCaller() by: Caller,
    @Query() query: PlanQueryDto,
    @Body() body: ReplayRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReplayDto> {
    const isPlan = query.plan === 'true';
    const replay = isPlan ? await this.plan(by, body) : await this.start(by, body);
    void reply.status(isPlan ? 201 : 202).header('location', `/v1/replays/${replay.id}`);
    return this.shown(replay);
  }

  @Get()
  @Allow('viewer', 'failures')
  @ListReplays()
  async page(
    @TheCaller() by: Caller,
    @Query() query: ListReplaysDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReplayPageDto> {
    const { items, nextCursor } = await this.list.page(by, query.state, query.limit, query.cursor);
    linkNext(reply, '/v1/replays', query, nextCursor);
    return { items: await this.allShown(items), nextCursor };
  }

  @Get(':id')
  @Allow('viewer', 'failures')
  @GetReplay()
  async find(@TheCaller() by: Caller, @Param('id') id: string): Promise<ReplayDto> {
    return this.shown(await this.existing(id, by));
  }

  @Get(':id/items')
  @Allow('viewer', 'failures')
  @ListReplayItems()
  async items(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Query() query: ListReplayItemsDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReplayItemPageDto> {
    await this.existing(id, by);
    const { items, nextCursor } = await this.list.items(id, query.outcome, query.limit, query.cursor);
    linkNext(reply, `/v1/replays/${id}/items`, query, nextCursor);
    return { items: items.map((item) => ReplayItemDto.of(item)), nextCursor };
  }

  @Post(':id/pause')
  @HttpCode(200)
  @Allow('operator', 'failures')
  @PauseReplay()
  async pause(@TheCaller() by: Caller, @Param('id') id: string, @Body() body: ReplayReasonDto): Promise<ReplayDto> {
    return this.shown(await this.replays.pause(idOf(id), by, body.reason));
  }

  @Post(':id/resume')
  @HttpCode(200)
  @Allow('operator', 'failures')
  @ResumeReplay()
  async resume(@TheCaller() by: Caller, @Param('id') id: string, @Body() body: ReplayReasonDto): Promise<ReplayDto> {
    return this.shown(await this.replays.resume(idOf(id), by, body.reason));
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @Allow('support', 'failures')
  @CancelReplay()
  async cancel(@TheCaller() by: Caller, @Param('id') id: string, @Body() body: ReplayReasonDto): Promise<ReplayDto> {
    return this.shown(await this.replays.cancel(idOf(id), by, body.reason));
  }

  private plan(
    by: Caller,
    { selection, pacePerSecond, includeSkipped, planId, reason }: ReplayRequestDto,
  ): Promise<Replay> {
    if (planId !== undefined) throw refused('/planId', 'belongs to a start, not to a plan');
    if (reason !== undefined) throw refused('/reason', 'belongs to a start, not to a plan');
    if (selection === undefined) throw refused('/selection', 'must say which dead letters; {} means all');
    return this.replays.plan({
      selection: checked(selection),
      pace: pacePerSecond ?? null,
      includeSkipped: includeSkipped ?? false,
      by,
    });
  }

  private start(
    by: Caller,
    { selection, pacePerSecond, includeSkipped, planId, reason }: ReplayRequestDto,
  ): Promise<Replay> {
    if (selection !== undefined) throw refused('/selection', 'belongs to a plan: send it with ?plan=true first');
    if (includeSkipped !== undefined) throw refused('/includeSkipped', 'belongs to a plan');
    if (planId === undefined) throw refused('/planId', 'must be the id of a plan');
    if (reason === undefined) throw refused('/reason', 'must say why');
    return this.replays.start({ planId, pace: pacePerSecond, reason, by });
  }

  private async existing(id: string, by: Caller): Promise<Replay> {
    const replay = await this.list.find(idOf(id), by);
    if (!replay) throw replayUnknown();
    return replay;
  }

  private async shown(replay: Replay): Promise<ReplayDto> {
    const [shown] = await this.allShown([replay]);
    return shown as ReplayDto;
  }

  private async allShown(replays: readonly Replay[]): Promise<ReplayDto[]> {
    const progress = await this.list.progress(replays.map(({ id }) => id));
    return replays.flatMap((replay) => {
      const own = progress.get(replay.id);
      return own ? [ReplayDto.of(replay, own)] : [];
    });
  }
}

function idOf(id: string): string {
  if (!UUID.test(id)) throw replayUnknown();
  return id;
}

function checked(selection: SelectionDto): SelectionDto {
  const others = Object.entries(selection).filter(([name, value]) => name !== 'ids' && value !== undefined);
  if (selection.ids !== undefined && others.length > 0) {
    throw refused(`/selection/${others[0]?.[0]}`, 'must be left out where ids are named');
  }
  return selection;
}

const refused = (pointer: string, detail: string) =>
  new NonRetriableError('request-invalid', `${pointer} ${detail}.`, { violations: [{ pointer, detail }] });
