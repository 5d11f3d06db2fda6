import type { Database } from '../../platform/database';
import { type Caller, reaches } from '../../staff';
import type { DeadLetter } from './dead-letter';
import type { DeadLetterList, LetterContent } from './dead-letter-list';
import type { DocumentReader } from './document-reader';
import { editsOf } from './edits';
import { DeadLetterViewDto } from './letter-view.dto';
import { contentOf } from './record-content';
import { parkedUnknown } from './refusals';

/** Puts together what a caller may see of one message. */
export class LetterView {
  constructor(
    private readonly database: Database,
    private readonly list: DeadLetterList,
    private readonly reader: DocumentReader,
  ) {}

  /** Throws `parked-unknown`. */
  async of(id: string, by: Caller): Promise<{ letter: DeadLetter; view: DeadLetterViewDto }> {
    const letter = await this.existing(id, by);
    const content = reaches(by.role, 'support') ? await this.list.content(id) : undefined;
    return {
      letter,
      view: DeadLetterViewDto.view(letter, {
        history: await this.list.history(id),
        replays: await this.list.replays(id),
        edits: await editsOf(this.database, id),
        content: content ? contentOf(content, await this.reader.read(content)) : null,
      }),
    };
  }

  /** The record as it came. Throws `parked-unknown`. */
  async record(id: string, by: Caller): Promise<LetterContent> {
    await this.existing(id, by);
    const content = await this.list.content(id);
    if (!content) throw parkedUnknown();
    return content;
  }

  private async existing(id: string, by: Caller): Promise<DeadLetter> {
    const letter = await this.list.find(id, by.partners);
    if (!letter) throw parkedUnknown();
    return letter;
  }
}
