import { Body, Controller, Inject, Param, Put, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CLOCK, type Clock } from '../../platform/clock';
import { CONFIG, type Config } from '../../platform/config';
import { Database } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { LOGGER, type Logger } from '../../platform/telemetry';
import { Allow, type Caller, mayPartner, TheCaller } from '../../staff';
import { answering, answerOut } from '../answer-out';
import type { Applied } from './onboarder';
import { OnboardingDto, OnboardingQuery } from './onboarding.dto';
import { PutPartner } from './onboarding.openapi';
import { type PartnerSpec, specOf } from './partner-spec';
import { withOnboarder } from './with-onboarder';

@ApiTags('partners')
@Controller('v1/partners')
export class OnboardingController {
  constructor(
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Answers by itself: a new account counts only when the answer with its secret is out. */
  @Put(':id')
  @Allow('admin', 'partners')
  @PutPartner()
  async put(
    @TheCaller() by: Caller,
    @Param('id') partner: string,
    @Query() { plan, planId, allowDelete = false }: OnboardingQuery,
    @Body() body: object,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const spec = this.specFor(by, partner, body);
    const { database, config, clock } = this;
    const meaning =
      'nobody is known to have the answer of an onboarding: the next one goes on, and makes another password for an account that was begun';
    await answering(reply, { log: this.log, partner, meaning }, async () => {
      const tell = (applied: Applied) => answerOut(reply, OnboardingDto.of(applied));
      const done = await withOnboarder({ database, config, clock }, async (onboarder) =>
        plan
          ? { plan: await onboarder.plan(spec, { allowDelete }), account: undefined }
          : onboarder.apply(spec, by, { allowDelete, planId, tell }),
      );
      if (!done.account) await tell(done);
    });
  }

  /** The path says whose file it is; a body that says so too must agree. */
  private specFor(by: Caller, partner: string, body: object): PartnerSpec {
    if (!mayPartner(by, partner))
      throw new NonRetriableError('partner-not-allowed', `This key may not act with the partner ${partner}.`);
    const spec = specOf({ partner, ...body }, this.config);
    if (spec.partner === partner) return spec;
    throw new NonRetriableError(
      'partner-spec-invalid',
      `The body is about ${spec.partner}, the path about ${partner}.`,
      {
        violations: [{ pointer: '/partner', detail: `must be ${partner}, or be left out` }],
      },
    );
  }
}
