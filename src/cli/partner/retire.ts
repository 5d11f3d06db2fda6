import { Command } from 'commander';
import { type AccountTools, type RetirementPass, withAccounts } from '../../partners';
import { systemClock } from '../../platform/clock';
import { withDatabase } from '../context';
import { partnerId, withJson } from '../options';
import { hint, print } from '../output';
import { staffCaller } from '../staff-caller';

const PARTLY_FAILED = 3;

export function retireCommand(): Command {
  return withJson(new Command('retire').argument('[id]', 'only of this partner', partnerId))
    .description(
      'End the accounts that were replaced and whose date has passed. A running process with KAFKA_ADMIN_USERNAME does so by itself, within a minute.',
    )
    .action((id: string | undefined, { json }: { json: boolean }) =>
      withDatabase((database, config) =>
        withAccounts({ database, config, clock: systemClock }, async (tools) => {
          const pass = await tools.retirement.retireDue(staffCaller(), id);
          print(
            json,
            pass,
            pass.retired.map((account) => `retired ${account}`),
          );
          if (pass.retired.length + pass.failed.length === 0 && !json) hint('No account is due.');
          sayFailures(pass);
          if (pass.failed.length > 0) process.exitCode = PARTLY_FAILED;
        }),
      ),
    );
}

/** In passing: what fails is said, and keeps nothing else from being done. */
export async function retireDue({ retirement }: AccountTools, partner: string): Promise<void> {
  const pass = await retirement.retireDue(staffCaller(), partner);
  for (const account of pass.retired) hint(`${account} was due and has ended.`);
  sayFailures(pass);
}

function sayFailures({ failed }: RetirementPass): void {
  for (const { username, reason } of failed) hint(`${username} is due and could not be ended: ${reason}`);
}
