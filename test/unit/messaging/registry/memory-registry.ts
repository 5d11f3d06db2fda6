import type { RegisteredFormat } from '../../../../src/contracts';
import type { RegisteredSchema, SchemaReference, SchemaRegistry, SchemaText } from '../../../../src/messaging/registry';

/**
 * A registry's answers without its network, for tests that ask what codecs make of them. Ids count from 1 over all subjects,
 * and the same content has the same id.
 */
export class MemoryRegistry implements SchemaRegistry {
  readonly trouble = undefined;
  /** Calls by method, in order: `versions orders.acme.response.v1-value`. */
  readonly calls: string[] = [];
  /** Called before each answer: where it throws, the answer is that. */
  before: (call: string) => Promise<void> | void = () => undefined;
  private readonly bySubject = new Map<string, RegisteredSchema[]>();
  private readonly ids = new Map<string, number>();

  put(subject: string, format: RegisteredFormat, text: string, references: SchemaReference[] = []): RegisteredSchema {
    const content = JSON.stringify([format, text, references]);
    const id = this.ids.get(content) ?? this.ids.size + 1;
    this.ids.set(content, id);
    const version = (this.bySubject.get(subject)?.length ?? 0) + 1;
    const guid = `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`;
    return this.add({ id, guid, subject, version, format, text, references });
  }

  add(schema: RegisteredSchema): RegisteredSchema {
    this.bySubject.set(schema.subject, [...(this.bySubject.get(schema.subject) ?? []), schema]);
    return schema;
  }

  async versions(subject: string): Promise<RegisteredSchema[]> {
    await this.answer(`versions ${subject}`);
    return this.bySubject.get(subject) ?? [];
  }

  async version(subject: string, version: number): Promise<RegisteredSchema | undefined> {
    await this.answer(`version ${subject} ${version}`);
    return this.bySubject.get(subject)?.[version - 1];
  }

  async lookup(subject: string, { format, text }: SchemaText): Promise<RegisteredSchema | undefined> {
    await this.answer(`lookup ${subject}`);
    return this.bySubject.get(subject)?.find((schema) => schema.format === format && schema.text === text);
  }

  judge = (): Promise<never> => Promise.reject(new Error('codecs judge nothing'));
  register = (): Promise<never> => Promise.reject(new Error('codecs register nothing'));
  setCompatibility = (): Promise<never> => Promise.reject(new Error('codecs set nothing'));
  close = (): Promise<void> => Promise.resolve();

  private async answer(call: string): Promise<void> {
    this.calls.push(call);
    await this.before(call);
  }
}
