import { Command } from 'commander';
import { examples } from './options';

/** One file a verb, loaded when it is named: those that ask the API must not wait for database and Kafka to load. */
const VERBS: Readonly<Record<string, () => Promise<Command>>> = {
  onboard: async () => (await import('./partner/onboard.js')).onboardCommand(),
  add: async () => (await import('./partner/add.js')).addCommand(),
  list: async () => (await import('./partner/list.js')).listCommand(),
  show: async () => (await import('./partner/show.js')).showCommand(),
  rotate: async () => (await import('./partner/rotate.js')).rotateCommand(),
  retire: async () => (await import('./partner/retire.js')).retireCommand(),
  kit: async () => (await import('./partner/kit.js')).kitCommand(),
  pause: async () => (await import('./partner/state.js')).stateCommand('pause'),
  suspend: async () => (await import('./partner/state.js')).stateCommand('suspend'),
  resume: async () => (await import('./partner/state.js')).stateCommand('resume'),
};

/** `verb` is what the command line names after `partner`; all are loaded for help, or for what is no verb. */
export async function partnerCommand(verb: string | undefined = process.argv[3]): Promise<Command> {
  const partner = examples(
    new Command('partner').description('Who we exchange documents with.'),
    'parley partner onboard acme --file acme.yaml --plan',
    'parley partner add acme --name "Acme Ltd"',
    'parley partner list --json',
    'parley partner rotate acme --plan',
    'parley partner kit acme -o acme-kit.zip',
    'parley partner suspend acme --reason "its account was stolen"',
  );
  const one = verb !== undefined && Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  for (const load of one ? [one] : Object.values(VERBS)) partner.addCommand(await load());
  return partner;
}
