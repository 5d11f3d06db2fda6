/**
 * The WHERE of a list, from the filters that were given. A text is made of constants here; values go by name. Each list is planned
 * for the filters it has, so that one that names an order doesn't walk what another one walks.
 */
export class Conditions {
  private readonly texts: string[] = [];
  readonly values: Record<string, unknown> = {};

  /** Adds `text` when all its values are given; nothing otherwise. */
  and(text: string, values: Record<string, unknown> = {}): this {
    if (Object.values(values).includes(undefined)) return this;
    this.texts.push(text);
    Object.assign(this.values, values);
    return this;
  }

  /** Confines a list to what the caller may see. @param partners null: all */
  within(column: string, partners: readonly string[] | null): this {
    return this.and(`${column} = ANY(:scope::text[])`, { scope: partners ?? undefined });
  }

  toString(): string {
    return this.texts.length > 0 ? this.texts.join(' AND ') : 'true';
  }
}
