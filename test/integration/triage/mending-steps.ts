import { ask, broken, ifMatch, lettersOf, type Row, type TriageApp } from './triage-app';

// What staff do to a dead letter, as a request each.

const ISSUED = { issuedAt: '2026-03-01T10:00:00Z' };
/** The document as it ought to have been. */
export const mended = (orderNumber: string, change: object = {}) => ({
  orderNumber,
  responseCode: 'AP',
  ...ISSUED,
  ...change,
});
export type Who = keyof TriageApp['keys'];

/** The newest dead letter of an order. */
export async function letterOf(triage: TriageApp, order: string): Promise<Row> {
  const [letter] = await lettersOf(triage, order);
  if (!letter) throw new Error(`no dead letter of ${order}`);
  return letter;
}

let drawn = 0;
/** A dead letter of an order of its own, as a list shows it. */
export async function dead(triage: TriageApp, shape: Parameters<typeof broken>[1] = {}): Promise<Row> {
  const order = `m-${process.pid}-${++drawn}`;
  await triage.deliver(broken(order, shape));
  return letterOf(triage, order);
}

export const edit = (triage: TriageApp, letter: Row, document: unknown, who: Who = 'operator') =>
  ask(triage, who, `POST /v1/dead-letters/${letter.id}/edits`, { document, reason: 'a typo' }, ifMatch(letter));
export const replay = (triage: TriageApp, letter: Row, who: Who = 'support') =>
  ask(triage, who, `POST /v1/dead-letters/${letter.id}/replay`, { reason: 'it is mended' });
export const show = async (triage: TriageApp, letter: Row, who: Who = 'support') =>
  (await ask(triage, who, `GET /v1/dead-letters/${letter.id}`)).json;
export const resolve = (triage: TriageApp, verb: 'discard' | 'restore', letter: Row, who: Who = 'operator') =>
  ask(triage, who, `POST /v1/dead-letters/${letter.id}/${verb}`, { reason: `to ${verb}` }, ifMatch(letter));
