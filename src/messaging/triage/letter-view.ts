import { isSecret } from '../../contracts';
import type { Database } from '../../platform/database';
import { type Caller, reaches } from '../../staff';
import type { DeadLetter } from './dead-letter';
import type { DeadLetterList, LetterContent } from './dead-letter-list';
import type { DocumentReader, ReadDocument } from './document-reader';
import { editsOf } from './edits';
import { DeadLetterViewDto } from './letter-view.dto';
import { maskContent, maskEdit, showsBytes } from './masking';
import { contentOf } from './record-content';
import { contentMasked, contentSecret, parkedUnknown } from './refusals';

/** Puts together what a caller may see of one message. */
export class LetterView {
  constructor(
    private readonly database: Database,
    private readonly list: DeadLetterList,
    private readonly reader: DocumentReader,
  ) {}

  /** As everybody sees it: masked, and without the document below the role support. Throws `parked-unknown`. */
  async of(id: string, by: Caller): Promise<{ letter: DeadLetter; view: DeadLetterViewDto }> {
    const letter = await this.existing(id, by);
    if (!reaches(by.role, 'support')) return { letter, view: await this.view(letter, undefined, false) };
    return { letter, view: await this.view(letter, await this.read(id), false) };
  }

  /** All of it; `hidden` says what others don't see. Throws `parked-unknown`, `content-secret`. */
  async unmasked(id: string, by: Caller): Promise<{ letter: DeadLetter; view: DeadLetterViewDto; hidden: string[] }> {
    const letter = await this.existing(id, by);
    const record = await this.read(id);
    if (carriesSecret(record.read)) throw contentSecret();
    const { hidden } = maskContent(contentOf(record.content, record.read), record.read, null);
    return { letter, view: await this.view(letter, record, true), hidden };
  }

  /** The value as it came; null of a tombstone. Throws `parked-unknown`, `content-secret`, and `content-masked` unless the whole of it may be seen. */
  async value(id: string, by: Caller, isUnmasked: boolean): Promise<{ letter: DeadLetter; value: Buffer | null }> {
    const letter = await this.existing(id, by);
    const { content, read } = await this.read(id);
    if (carriesSecret(read)) throw contentSecret();
    if (content.rawValue !== null && !isUnmasked && !showsBytes(read)) throw contentMasked(id);
    return { letter, value: content.rawValue };
  }

  private async view(letter: DeadLetter, record: Read | undefined, isUnmasked: boolean): Promise<DeadLetterViewDto> {
    const { id, pointer } = letter;
    const edits = await editsOf(this.database, id);
    const content = record && contentOf(record.content, record.read);
    return DeadLetterViewDto.view(letter, {
      history: await this.list.history(id),
      replays: await this.list.replays(id),
      edits: isUnmasked ? edits : edits.map((edit) => maskEdit(record?.read.contract, edit)),
      content: (isUnmasked ? content : content && record && maskContent(content, record.read, pointer)) ?? null,
    });
  }

  private async read(id: string): Promise<Read> {
    const content = await this.list.content(id);
    if (!content) throw parkedUnknown();
    return { content, read: await this.reader.read(content) };
  }

  private async existing(id: string, by: Caller): Promise<DeadLetter> {
    const letter = await this.list.find(id, by.partners);
    if (!letter) throw parkedUnknown();
    return letter;
  }
}

const carriesSecret = ({ contract, document }: ReadDocument): boolean =>
  contract !== undefined && isSecret(contract, document);

interface Read {
  content: LetterContent;
  read: ReadDocument;
}
