import type { Access } from '../../../src/simulator/access';
import { certify, type CertifySettings } from '../../../src/simulator/certification/certify';
import type { CertificationReport } from '../../../src/simulator/certification/suite';
import type { Message } from '../../../src/simulator/message';
import { guardedKafka } from '../../support/guarded-kafka';
import { uniqueName } from '../../support/kafka';
import { topicsOf } from './fixture';
import { MutantPartner, type Mutation } from './mutant';

/** Behind TLS, as who may do everything: what an account may not do has a test of its own. */
export function access(): Access {
  const { brokers, caFile, admin } = guardedKafka();
  const account = { mechanism: 'SCRAM-SHA-512' as const, credentials: () => admin };
  return { brokers: [brokers], tls: { ca: caFile }, account, registry: undefined };
}

/** For a system that answers, however busy the machine is: only what is not answered takes so long. */
export const PATIENCE = { connectMs: 60_000, withinMs: 60_000, settleMs: 300, burst: 6 };

export const settingsFor = (id: string, more: Partial<CertifySettings> = {}): CertifySettings => ({
  ...access(),
  party: { id, format: 'json' },
  isAlone: true,
  runs: 1,
  patience: PATIENCE,
  ...more,
});

export const certified = (settings: CertifySettings) =>
  certify(settings, { onResult: () => undefined, log: () => undefined });

export const named = ({ results }: CertificationReport, verdict: string) =>
  results.filter((result) => result.verdict === verdict).map(({ name }) => name);

const running: MutantPartner[] = [];
afterEach(() => Promise.all(running.splice(0).map((mutant) => mutant.stop())));

export async function mutant(mutation: Mutation): Promise<{ id: string; partner: MutantPartner }> {
  const id = uniqueName('acme');
  await topicsOf(id);
  const partner = new MutantPartner(id, access(), mutation);
  running.push(partner);
  await partner.start();
  return { id, partner };
}

/** Only for the orders of one scenario. */
export const when =
  (part: string, mutate: (good: readonly Message[]) => readonly Message[]): NonNullable<Mutation['order']> =>
  (good, { document }) =>
    document.orderNumber.includes(part) ? mutate(good) : good;

export const first = (good: readonly Message[], change: (message: Message) => Partial<Message>): readonly Message[] =>
  good.map((message, index) => (index === 0 ? { ...message, ...change(message) } : message));

export const edited = (edit: (document: Record<string, unknown>) => object) => (message: Message) => ({
  value: Buffer.from(JSON.stringify(edit(JSON.parse(message.value.toString()) as Record<string, unknown>))),
});

export const without = (header: string) => (message: Message) => ({
  headers: Object.fromEntries(Object.entries(message.headers).filter(([name]) => name !== header)),
});
