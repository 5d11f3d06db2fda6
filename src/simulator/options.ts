import { parseArgs } from 'node:util';
import { FORMATS } from '../contracts';
import {
  type Access,
  ACCESS_FLAGS,
  accessHelp,
  accountsIn,
  mechanismOf,
  partyOf,
  readAccess,
  registryFault,
} from './access';
import { BEHAVIOURS, parseRule, parseWeights, WISHES } from './behaviour';
import type { Manners } from './desk';
import { type Attempt, Faults, milliseconds, UsageError } from './usage';

export interface SimulatorOptions extends Manners, Access {
  group: string;
  journal: string | undefined;
}

export const HELP = `Plays a partner: answers orders and cancellations, despatches, and reads receipts and error reports.

  node dist/src/simulator/main.js --brokers localhost:9092 --partner acme=json
  node dist/src/simulator/main.js --brokers localhost:9092 --registry http://localhost:8081/apis/ccompat/v7 \\
       --partner acme --partner globex=protobuf --behaviour accept=8,ship=2,reject --rule 'LATE-*=slow' \\
       --cancellation agree=3,refuse --journal partner.jsonl
  PARTNER_PASSWORD_FILE=acme.password node dist/src/simulator/main.js --brokers kafka:9094 --partner acme=json \\
       --ca ca.pem --username acme.1

Options
${accessHelp('PARTNER_PASSWORD')}  --partner ID[=FORMAT]   whom it plays and what that speaks: ${FORMATS.join(', ')} (default: avro);
                          may be given several times (required)
  --accounts FILE         accounts of several partners, {"acme": {"username": "acme.1", "password": "..."}}: each then
                          has its own connections and group; read anew for every connection
  --group NAME            consumer group (default: partner.<first partner>.simulator, which the broker allows)
  --behaviour MIX         of ${BEHAVIOURS.slice(0, 6).join(', ')},
                          ${BEHAVIOURS.slice(6).join(', ')},
                          with weights; the order number's hash decides (default: accept)
  --rule PATTERN=MIX      for order numbers like LATE-*; may be given several times, the first match wins
  --cancellation MIX      of ${WISHES.join(', ')}, in the same way (default: agree); what it has despatched
                          anything of it refuses to cancel
  --cancellation-rule PATTERN=MIX
                          as --rule, for cancellations
  --seed TEXT             another distribution of the mixes over the same order numbers (default: empty)
  --delay-ms MS           how long it thinks before it answers (default: 0)
  --slow-ms MS            slow: from the acknowledgement to the acceptance; ship-early: to the acceptance (default: 2000)
  --ship-ms MS            ship: from the acceptance to the first despatch, and on to the next (default: 5000)
  --journal FILE          append what it saw and did, as JSON lines; a restarted partner recalls from it what it
                          has despatched and agreed to cancel
  --help                  this text
`;

const FLAGS = {
  ...ACCESS_FLAGS,
  partner: { type: 'string', multiple: true },
  accounts: { type: 'string' },
  group: { type: 'string' },
  behaviour: { type: 'string', default: 'accept' },
  rule: { type: 'string', multiple: true },
  cancellation: { type: 'string', default: 'agree' },
  'cancellation-rule': { type: 'string', multiple: true },
  seed: { type: 'string', default: '' },
  'delay-ms': { type: 'string', default: '0' },
  'slow-ms': { type: 'string', default: '2000' },
  'ship-ms': { type: 'string', default: '5000' },
  journal: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;
type Flags = ReturnType<typeof readFlags>;

/** The partners that one process plays; undefined: help was asked for. Throws {@link UsageError}. */
export function parseOptions(args: readonly string[], env: NodeJS.ProcessEnv): SimulatorOptions[] | undefined {
  const values = readFlags(args);
  if (values.help) return undefined;
  const faults = new Faults();
  const { attempt } = faults;
  const wanted = values.partner ?? [];
  const access = readAccess(values, env, 'PARTNER_PASSWORD', attempt);
  const parties = attempt('partner', [], () => wanted.map(partyOf));
  const { group, accounts: file } = values;
  const common = { ...access, ...mannersOf(values, attempt), journal: values.journal };
  if (wanted.length === 0) faults.list.push('--partner is missing: whom does it play?');
  const unregistered = registryFault(parties, values.registry);
  if (unregistered) faults.list.push(unregistered);
  const accountOf =
    file === undefined
      ? undefined
      : (id: string) =>
          attempt('accounts', undefined, () => accountsIn(file, mechanismOf(values['sasl-mechanism']))(id));
  const partners = accountOf
    ? parties.map((party) => ({ ...common, parties: [party], group: groupOf(party.id), account: accountOf(party.id) }))
    : [{ ...common, parties, group: group ?? groupOf(parties[0]?.id ?? '') }];
  attempt('group', undefined, () => checkGroups(partners, { group, isSplit: accountOf !== undefined }));
  faults.settle();
  return partners;
}

const groupOf = (partner: string): string => `partner.${partner}.simulator`;

/** The broker lets a partner into groups that begin with `partner.<id>.`, and into no other. */
function checkGroups(
  partners: readonly SimulatorOptions[],
  { group, isSplit }: { group: string | undefined; isSplit: boolean },
): void {
  if (group !== undefined && isSplit)
    throw new RangeError('is for one account; with --accounts each partner has its own group');
  for (const {
    account,
    parties: [party, ...others],
    group: name,
  } of partners) {
    if (!account || !party) continue;
    if (others.length > 0)
      throw new RangeError('can hold one partner: for several give --accounts FILE instead of --username');
    const prefix = `partner.${party.id}.`;
    if (!name.startsWith(prefix)) throw new RangeError(`must begin with ${prefix}`);
  }
}

function mannersOf(values: Flags, attempt: Attempt): Omit<Manners, 'parties'> {
  const { seed, behaviour, cancellation } = values;
  return {
    mix: {
      rules: attempt('rule', [], () => (values.rule ?? []).map((text) => parseRule(text, BEHAVIOURS))),
      weights: attempt('behaviour', parseWeights('accept', BEHAVIOURS), () => parseWeights(behaviour, BEHAVIOURS)),
      seed,
    },
    cancellation: {
      rules: attempt('cancellation-rule', [], () =>
        (values['cancellation-rule'] ?? []).map((text) => parseRule(text, WISHES)),
      ),
      weights: attempt('cancellation', parseWeights('agree', WISHES), () => parseWeights(cancellation, WISHES)),
      seed,
    },
    delayMs: attempt('delay-ms', 0, () => milliseconds(values['delay-ms'])),
    slowMs: attempt('slow-ms', 0, () => milliseconds(values['slow-ms'])),
    shipMs: attempt('ship-ms', 0, () => milliseconds(values['ship-ms'])),
  };
}

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: FLAGS }).values;
  } catch (error) {
    throw new UsageError([(error as Error).message]);
  }
}
