import { Command } from 'commander';
import {
  CERTIFY_HELP,
  type CertifyOptions,
  parseCertify,
  processTerminal,
  runCertification,
  UsageError,
} from '../simulator';
import { hint } from './output';
import { certifyOwn } from './certify/own';
import { withSandbox } from './certify/sandbox';
import { endingWith, ownOptions } from './simulate.command';

const HELP = `Examples:
  parley certify acme-test --runs 2
  parley certify acme --junit certification.xml --ctrf certification.json
  parley certify acme --sandbox --format avro

${CERTIFY_HELP}
  --sandbox               starts a guarded broker and a schema registry of its own, tells how the partner's system gets in,
                          and tries a restart of the broker, too; nothing is kept
  --publish-later-schema  for Avro: registers the order's schema with one optional field more under the request topic, once,
                          so that unknown-field can be tried
  --valid-days N          how long the result counts (default: 90)
Beside the options it needs DATABASE_URL and KAFKA_*, as Parley does: the result is kept with the partner.
`;

/** A day, ms. */
const DAY_MS = 24 * 60 * 60_000;

export function certifyCommand(): Command {
  return ownOptions(
    new Command('certify').description("Try a partner's running system with a fixed list of scenarios."),
  ).action((args: string[]) => endingWith(() => run(args)));
}

async function run(args: readonly string[]): Promise<number> {
  const parsed = parseCertify(args, process.env, {
    sandbox: { type: 'boolean', default: false },
    'publish-later-schema': { type: 'boolean', default: false },
    'valid-days': { type: 'string', default: '90' },
  });
  if (!parsed) {
    process.stdout.write(HELP);
    return 0;
  }
  const { options, values } = parsed;
  if (values['sandbox'] === true) {
    if (options.access) throw new UsageError(['--sandbox starts brokers of its own: leave out --brokers.']);
    return inSandbox(options);
  }
  const days = String(values['valid-days']);
  if (!/^[1-9]\d{0,3}$/.test(days))
    throw new UsageError([`--valid-days must be a whole number from 1 to 9999, not "${days}".`]);
  const publishesLater = values['publish-later-schema'] === true;
  return certifyOwn(options, { validForMs: Number(days) * DAY_MS, publishesLater }, processTerminal('parley'));
}

/** A system that is only now told how to get in needs time for that: --connect-ms says how much. */
async function inSandbox(options: CertifyOptions): Promise<number> {
  const { partner, format = 'avro' } = options;
  return withSandbox({ partner, format }, async ({ settings, partnerAccount, ...place }) => {
    hint(`The sandbox is up. How the system of ${partner} gets in:`);
    for (const setting of settings) hint(`  ${setting}`);
    hint(
      `Start it now; its first answer is waited for ${Math.round(options.patience.connectMs / 1000)} s (--connect-ms).`,
    );
    const { exitCode } = await runCertification({ ...options, partnerAccount }, place, processTerminal('parley'));
    return exitCode;
  });
}
