import type { RegisteredFormat } from '../../contracts';
import type { SchemaRefused } from './schema-text';

/** A schema's text with what it refers to. */
export interface SchemaText {
  format: RegisteredFormat;
  text: string;
  references: readonly SchemaReference[];
}

/** `name`: the full name (Avro), import path (Protobuf) or `$ref` (JSON Schema) under which the text means it. */
export interface SchemaReference {
  name: string;
  subject: string;
  version: number;
}

export interface RegisteredSchema extends SchemaText {
  /** Global id: what the wire format carries. */
  id: number;
  /** UUID of the same in newer registries; the header form of the wire format may carry it. */
  guid?: string;
  subject: string;
  /** Counts within the subject from 1. */
  version: number;
}

export type CompatibilityLevel = 'NONE' | 'FULL_TRANSITIVE';

/**
 * Confluent's registry API, as far as we speak it. Every method rejects with RegistryUnavailable when no URL answers soundly
 * in time (retried on network errors, 408, 429 and 5xx), and with AppError `registry-refused` when the registry says no
 * (401, 403, 409, 422), with its reason; "no such thing" is a value, never an error.
 */
export interface SchemaRegistry {
  /**
   * Versions of a subject, deleted ones too (old records still name them), oldest first; none when there is no such subject.
   * Versions beyond our limits (size, nesting, type, number) are told to `onRefused` and left out; without it the first
   * rejects the call.
   */
  versions(subject: string, onRefused?: (error: SchemaRefused) => void): Promise<RegisteredSchema[]>;
  /** Rejects with SchemaRefused for a version beyond our limits. */
  version(subject: string, version: number): Promise<RegisteredSchema | undefined>;
  /** The registered schema with exactly this content. */
  lookup(subject: string, schema: SchemaText): Promise<RegisteredSchema | undefined>;
  /** Whether the registry's own rules at the subject's level allow it, against all versions; reasons in its words. */
  judge(subject: string, schema: SchemaText): Promise<{ compatible: boolean; reasons: string[] }>;
  /** Only the publishing command calls this. */
  register(subject: string, schema: SchemaText): Promise<RegisteredSchema>;
  setCompatibility(subject: string, level: CompatibilityLevel): Promise<void>;
  /** What is wrong with the registry as the last call saw it, without credentials; undefined when all is well or none was made. */
  readonly trouble: string | undefined;
  close(): Promise<void>;
}
