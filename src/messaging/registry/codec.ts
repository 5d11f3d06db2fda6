import type { Contract } from '../../contracts';

/** The bytes of a document and what the record's headers must say about them. */
export interface Encoded {
  payload: Buffer;
  contentType: string;
  dataSchema?: string;
}

/** Why bytes did not become a document: `undecodable` (not this format), `invalid` (breaks the schema at `pointer`). */
export interface Undecodable {
  code: 'undecodable' | 'invalid';
  detail: string;
  pointer?: string;
}

export type Decoded<T> = { ok: true; value: T } | { ok: false; error: Undecodable };

/** Thrown when the schema registry can't be reached: our outage, never the message's fault. No attempt is counted. */
export class RegistryUnavailable extends Error {
  override readonly name = 'RegistryUnavailable';
}

/**
 * One format. Asynchronous, since registry formats may have to fetch a schema. The seam where bytes are made *before* the
 * commit: what can't be encoded fails the caller's request.
 */
export interface Codec {
  /** Throws a NonRetriableError `document-invalid` with violations when the value breaks the contract's schema. */
  encode<T>(contract: Contract<T>, topic: string, value: T): Promise<Encoded>;
  /** Total: any bytes give a value or a typed error; rejects only with {@link RegistryUnavailable}. */
  decode<T>(contract: Contract<T>, topic: string, payload: Buffer): Promise<Decoded<T>>;
}
