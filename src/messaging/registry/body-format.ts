import type { RegisteredFormat } from '../../contracts';
import type { RegisteredSchema } from './schema-registry';

/** One contract in one registered format. */
export interface BodyFormat {
  readonly format: RegisteredFormat;
  readonly contentType: string;
  /** Our schema, letter for letter as it is published. */
  readonly schemaText: string;
  /** Whether the message's place in its file stands between schema id and body. */
  readonly withIndexes: boolean;
  /** The frame and the body of a value that keeps the contract's rules. */
  encode(frame: Buffer, value: unknown): Buffer;
  /** Throws SchemaMismatch when nothing that the writer's schema describes can be read as the contract. */
  reader(writer: RegisteredSchema, references: readonly SchemaSource[]): BodyReader;
}

/** A schema that another one refers to by this name. */
export interface SchemaSource {
  name: string;
  text: string;
}

/** Reads the body that begins at `from`. Throws Malformed or SchemaMismatch, nothing else. */
export type BodyReader = (value: Buffer, from: number, indexes: readonly number[]) => unknown;
