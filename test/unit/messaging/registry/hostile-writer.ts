import { Type } from 'avsc';
import { orderResponse, type RegisteredFormat, subjectFor } from '../../../../src/contracts';
import { createCodec, type Decoded } from '../../../../src/messaging/registry';
import { MemoryRegistry } from './memory-registry';

export const TOPIC = 'orders.acme.response.v1';
export const SUBJECT = subjectFor(orderResponse, TOPIC);
export const ANSWER = orderResponse.examples[0];

export const head = ['orderNumber', 'responseCode', 'issuedAt'].map((name) => ({ name, type: 'string' }));
export const answerBytes = Type.forSchema({ type: 'record', name: 'OrderResponse', fields: head } as never).toBuffer(
  ANSWER,
);

/** What our codec makes of bytes that somebody wrote under a schema of theirs. */
export async function read(format: RegisteredFormat, schema: unknown, body: Buffer): Promise<Decoded> {
  const registry = new MemoryRegistry();
  const text = typeof schema === 'string' ? schema : JSON.stringify(schema);
  const { id } = registry.put(SUBJECT, format, text);
  const value = Buffer.concat([Buffer.from([0, 0, 0, 0, id]), body]);
  return createCodec(registry).decode(orderResponse, { topic: TOPIC, format }, { value, headers: {} });
}

/** With the schema that the record named, for it is in use all the same. */
export const refused = (code: string, detail: RegExp) => ({
  ok: false,
  error: { code, detail: expect.stringMatching(detail) as string },
  schemaId: 1,
});

export const zigzag = (value: bigint): Buffer => {
  const bytes: number[] = [];
  let rest = value >= 0n ? value << 1n : (-value << 1n) - 1n;
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
};
export const bytes = (...parts: (bigint | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'bigint' ? zigzag(part) : part)));
