import type { AnyContract, Format, RawHeaders } from '../../contracts';
import { AppError, type AppErrorOptions } from '../../platform/errors';

/** Where a document travels; a channel is one. */
export interface Route {
  topic: string;
  format: Format;
}

/** The bytes of a document and what the record's headers must say about them. */
export interface Encoded {
  payload: Buffer;
  contentType: string;
  dataSchema?: string;
}

/** A record as far as decoding is concerned. */
export interface Encapsulated {
  value: Buffer;
  /** May carry the schema's id (`__value_schema_id`) in place of the payload's first bytes. */
  headers: RawHeaders;
  /** When the record was fetched, ms since the epoch (default: now). Only a look-up begun after it may call its schema id unknown. */
  seenAt?: number;
}

/**
 * Why bytes did not become a document: `undecodable` not this format · `schema-unknown` the schema id is not of this topic's
 * subjects · `schema-mismatch` the schema is, but can't be read as the contract · `invalid` a rule of the contract is broken
 * at `pointer`. The detail may reach the partner and never holds more of the document than a value of a few characters.
 */
export interface Undecodable {
  code: 'undecodable' | 'schema-unknown' | 'schema-mismatch' | 'invalid';
  detail: string;
  pointer?: string;
}

/**
 * `schemaId`: the schema that the writer used, for formats that say so, where it is one of the topic's; also of what can't be accepted.
 * `broken`: what was read where it is only `invalid`, for people who mend it.
 */
export type Decoded = ({ ok: true; value: unknown } | { ok: false; error: Undecodable; broken?: unknown }) & {
  schemaId?: number;
};

/** Thrown when the schema registry can't be reached: our outage, never the message's fault. No attempt is counted. */
export class RegistryUnavailable extends AppError {
  constructor(message: string, options: Pick<AppErrorOptions, 'cause' | 'hint'> = {}) {
    super('registry-unavailable', message, { retryAfter: 5, ...options });
  }
}

/**
 * Makes bytes of documents and documents of bytes. Asynchronous, since a schema may have to be fetched. Bytes are made
 * *before* the commit: what can't be encoded fails the caller's request.
 */
export interface Codec {
  /**
   * Resolves when {@link encode} needs no network for this contract and route. Rejects with {@link RegistryUnavailable}, or
   * AppError `schema-unpublished` when the registry answers and has no such schema, `registry-unconfigured` without one.
   */
  ready(contract: AnyContract, route: Route): Promise<void>;
  /** Throws a NonRetriableError `document-invalid` with violations when the value breaks the contract's rules; else as {@link ready}. */
  encode(contract: AnyContract, route: Route, value: unknown): Promise<Encoded>;
  /** Total: any bytes give a value or a typed error; rejects only with {@link RegistryUnavailable}. */
  decode(contract: AnyContract, route: Route, record: Encapsulated): Promise<Decoded>;
}
