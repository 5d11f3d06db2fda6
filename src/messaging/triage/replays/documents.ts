import type { Database } from '../../../platform/database';
import type { LetterContent } from '../dead-letter-list';
import type { DocumentReader } from '../document-reader';

type Stored = Pick<LetterContent, 'type' | 'topic' | 'rawValue' | 'headerNames' | 'headerValues'> & {
  id: string;
  edited: unknown;
};

/** Messages whose bytes are in memory at once. */
const CHUNK = 500;

/** Documents of dead letters as they would be replayed: mended where somebody did, else decoded from the bytes. */
export class Documents {
  constructor(
    private readonly database: Database,
    private readonly reader: DocumentReader,
  ) {}

  /** Those that can be read now, by id of the parked message. */
  async of(ids: readonly string[]): Promise<Map<string, unknown>> {
    const found = new Map<string, unknown>();
    for (let from = 0; from < ids.length; from += CHUNK) {
      for (const stored of await this.stored(ids.slice(from, from + CHUNK))) {
        const document = stored.edited ?? (await this.readable(stored));
        if (document !== undefined) found.set(stored.id, document);
      }
    }
    return found;
  }

  private async readable(stored: Stored): Promise<unknown> {
    const { document, trouble } = await this.reader.read(stored);
    return trouble === undefined ? document : undefined;
  }

  private stored(ids: readonly string[]): Promise<Stored[]> {
    return this.database.query<Stored>(
      `SELECT p.id, p.topic, p.type, p.raw_value AS "rawValue", p.header_names AS "headerNames", p.header_values AS "headerValues", e.document AS edited
       FROM parked_inbound p LEFT JOIN parked_edit e ON e.id = p.edit_id AND e.state = 'approved' WHERE p.id = ANY(:ids::bigint[])`,
      { ids },
    );
  }
}
