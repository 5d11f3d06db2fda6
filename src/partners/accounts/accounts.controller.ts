import { Body, Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CLOCK, type Clock } from '../../platform/clock';
import { CONFIG, type Config } from '../../platform/config';
import { Database } from '../../platform/database';
import { OptionalReasonDto, ReasonDto } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import { expectPartner } from '../directory/partner-directory';
import type { Account } from './account';
import { AccountDto } from './account.dto';
import { DisableAccount, EnableAccount, RetireAccount } from './accounts.openapi';
import { type AccountTools, withAccounts } from './with-accounts';

/** What is done about one account when it was stolen, or is needed no more. Each can be said twice. */
@ApiTags('partners')
@Controller('v1/partners/:id/accounts/:account')
export class AccountsController {
  constructor(
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post('disabling')
  @HttpCode(200)
  @Allow('admin', 'partners')
  @DisableAccount()
  disable(
    @TheCaller() by: Caller,
    @Param('id') partner: string,
    @Param('account') username: string,
    @Body() { reason }: ReasonDto,
  ): Promise<AccountDto> {
    return this.change(by, partner, ({ disabling }) => disabling.disable(partner, username, by, reason));
  }

  @Post('enabling')
  @HttpCode(200)
  @Allow('admin', 'partners')
  @EnableAccount()
  enable(
    @TheCaller() by: Caller,
    @Param('id') partner: string,
    @Param('account') username: string,
    @Body() { reason }: OptionalReasonDto,
  ): Promise<AccountDto> {
    return this.change(by, partner, ({ disabling }) => disabling.enable(partner, username, by, reason));
  }

  @Post('retirement')
  @HttpCode(200)
  @Allow('admin', 'partners')
  @RetireAccount()
  retire(
    @TheCaller() by: Caller,
    @Param('id') partner: string,
    @Param('account') username: string,
    @Body() { reason }: ReasonDto,
  ): Promise<AccountDto> {
    return this.change(by, partner, ({ retirement }) => retirement.retire(partner, username, by, reason));
  }

  private async change(
    by: Caller,
    partner: string,
    work: (tools: AccountTools) => Promise<Account>,
  ): Promise<AccountDto> {
    const { database, config, clock } = this;
    await expectPartner(database, by, partner);
    return AccountDto.of(await withAccounts({ database, config, clock }, work), clock.now());
  }
}
