import { Body, Controller, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { etagOf, seenVersion } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import { PartnerStateDto, ResumePartnerDto, StopPartnerDto } from './partner-state.dto';
import { PausePartner, ResumePartner, SuspendPartner } from './partner-state.openapi';
import { PartnerStates, type StateRequest } from './partner-states';

@ApiTags('partners')
@Controller('v1/partners')
export class PartnerStateController {
  constructor(private readonly states: PartnerStates) {}

  @Post(':id/pause')
  @HttpCode(200)
  @Allow('operator', 'partners')
  @PausePartner()
  pause(
    @TheCaller() by: Caller,
    @Param('id') partner: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() { reason }: StopPartnerDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PartnerStateDto> {
    return this.change({ partner, verb: 'pause', reason, seen: seenIn(ifMatch), by }, reply);
  }

  @Post(':id/suspension')
  @HttpCode(200)
  @Allow('operator', 'partners')
  @SuspendPartner()
  suspend(
    @TheCaller() by: Caller,
    @Param('id') partner: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() { reason }: StopPartnerDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PartnerStateDto> {
    return this.change({ partner, verb: 'suspend', reason, seen: seenIn(ifMatch), by }, reply);
  }

  @Post(':id/resumption')
  @HttpCode(200)
  @Allow('operator', 'partners')
  @ResumePartner()
  resume(
    @TheCaller() by: Caller,
    @Param('id') partner: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() { reason }: ResumePartnerDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PartnerStateDto> {
    return this.change({ partner, verb: 'resume', reason: reason ?? null, seen: seenIn(ifMatch), by }, reply);
  }

  private async change(request: StateRequest, reply: FastifyReply): Promise<PartnerStateDto> {
    const partner = await this.states.change(request);
    void reply.header('etag', etagOf(partner.version));
    return PartnerStateDto.of(partner);
  }
}

/** Whoever stops a partner in an emergency need not have looked at it before. */
const seenIn = (ifMatch: string | undefined): number | undefined =>
  ifMatch === undefined || ifMatch.trim() === '*' ? undefined : seenVersion(ifMatch);
