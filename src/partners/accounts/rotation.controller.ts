import { Body, Controller, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CLOCK, type Clock } from '../../platform/clock';
import { CONFIG, type Config } from '../../platform/config';
import { Database } from '../../platform/database';
import { LOGGER, type Logger } from '../../platform/telemetry';
import { Allow, type Caller, TheCaller } from '../../staff';
import { answering, answerOut } from '../answer-out';
import { expectPartner } from '../directory/partner-directory';
import { RotateAccountDto, RotatedAccountDto, RotationQuery } from './account.dto';
import { RotateAccount } from './rotation.openapi';
import { withAccounts } from './with-accounts';

const HOUR_MS = 3_600_000;

@ApiTags('partners')
@Controller('v1/partners')
export class RotationController {
  constructor(
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Answers by itself: the account counts only when the answer with its secret is out. */
  @Post(':id/rotation')
  @Allow('admin', 'partners')
  @RotateAccount()
  async rotate(
    @TheCaller() by: Caller,
    @Param('id') partner: string,
    @Query() { plan: onlyPlan }: RotationQuery,
    @Body() { replaces, subject, oldValidForHours }: RotateAccountDto,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { database, config, clock } = this;
    await expectPartner(database, by, partner);
    const request = {
      ...{ partner, replaces },
      ...(subject !== undefined && { subject }),
      ...(oldValidForHours !== undefined && { oldValidForMs: oldValidForHours * HOUR_MS }),
    };
    if (onlyPlan === 'true') {
      const plan = await withAccounts({ database, config, clock }, ({ rotation }) => rotation.plan(request));
      return answerOut(reply, RotatedAccountDto.of(plan));
    }
    const meaning =
      'nobody is known to have the password of a rotation: the next one makes another for the same account';
    await answering(reply, { log: this.log, partner, meaning }, async () => {
      await withAccounts({ database, config, clock }, ({ rotation }) =>
        rotation.rotate(request, by, (issued, plan) => answerOut(reply, RotatedAccountDto.of(plan, issued))),
      );
    });
  }
}
