import type { Template } from 'liquidjs';
import { NonRetriableError } from '../../platform/errors';
import type { NotificationKind } from '../domain/kind';
import type { Channel, ClaimedNotification, Content, NotificationData } from '../domain/notification';
import { type Engine, engineFor, reasonOf } from './engine';
import { smsText } from './sms-text';
import { fileOf, NEEDED, type Part, readTemplates } from './template-files';

/** What is told, of a notification. */
export type Told = Pick<ClaimedNotification, 'id' | 'data' | 'happenedAt'>;

interface Ready {
  engine: Engine;
  template: Template[];
}

/** Makes what is sent. All templates are read, parsed and tried at the start. */
export class Templates {
  private constructor(private readonly ready: ReadonlyMap<string, Ready>) {}

  /**
   * Throws a NonRetriableError that names the file and what it lacks, unless every template of every kind can be made from its example, and
   * from that without the members that may be missing.
   * @param folder with templates of one's own; empty: none
   */
  static load(folder: string): Templates {
    const files = readTemplates(folder);
    const [plain, html] = [engineFor(files, { html: false }), engineFor(files, { html: true })];
    const ready = new Map<string, Ready>();
    for (const { kind, part } of NEEDED) {
      const file = fileOf(kind.name, part);
      if (files[file] === undefined)
        throw new NonRetriableError('template-missing', `Kind ${kind.name} has no template ${file}.`);
      ready.set(file, tried(file, part === 'email.html' ? html : plain, kind));
    }
    return new Templates(ready);
  }

  /**
   * What is sent over a channel. Throws a NonRetriableError that quotes nothing of the data when the data lacks what a template needs.
   * A webhook's body is Standard Webhooks' payload, with the data as it is.
   */
  compose(kind: NotificationKind, channel: Channel, notification: Told): Content {
    const make = (part: Part) => this.make(kind, part, notification);
    if (channel === 'sms') return { channel, text: smsText(make('sms')) };
    if (channel === 'email') {
      const [subject, text, html] = [make('email.subject'), make('email.text'), make('email.html')];
      return { channel, subject: oneLine(subject), text: text.replaceAll(/\n{3,}/g, '\n\n'), html };
    }
    const { happenedAt, data } = notification;
    return {
      channel,
      body: JSON.stringify({ type: `parley.${kind.name}`, timestamp: happenedAt.toISOString(), data }),
    };
  }

  private make(kind: NotificationKind, part: Part, { id, data, happenedAt }: Told): string {
    const file = fileOf(kind.name, part);
    const ready = this.ready.get(file);
    if (!ready) throw new NonRetriableError('template-missing', `Kind ${kind.name} has no template ${file}.`);
    try {
      return ready.engine.render(ready.template, valuesOf(kind, { id, data, happenedAt }));
    } catch (error) {
      // Without its cause: that has the data in it.
      throw new NonRetriableError('template-unfit', `${file} can't be made: ${reasonOf(error)}.`);
    }
  }
}

const valuesOf = (kind: NotificationKind, { id, data, happenedAt }: Told): NotificationData => ({
  ...data,
  notification: { id, kind: kind.name, at: happenedAt.toISOString() },
});

/** A header is one line, and as long as mail programs show. */
function oneLine(subject: string): string {
  // eslint-disable-next-line no-control-regex -- that is what is to go
  const line = subject.replaceAll(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  const characters = Array.from(line);
  return characters.length > 200 ? `${characters.slice(0, 199).join('')}…` : line;
}

function tried(file: string, engine: Engine, kind: NotificationKind): Ready {
  const told = { id: '00000000-0000-5000-8000-000000000000', happenedAt: new Date(0) };
  const least = Object.fromEntries(Object.entries(kind.example).filter(([name]) => kind.required.includes(name)));
  const whole = valuesOf(kind, { ...told, data: kind.example });
  try {
    const template = engine.parse(file);
    const lacking = engine.names(template).find((path) => !isIn(whole, path));
    if (lacking) throw new Error(`there is no "${lacking.join('.')}"`);
    for (const values of [whole, valuesOf(kind, { ...told, data: least })]) engine.render(template, values);
    return { engine, template };
  } catch (error) {
    throw new NonRetriableError('template-unfit', `${file} can't be made for ${kind.name}: ${reasonOf(error)}.`, {
      cause: error,
      hint: `Its data has ${Object.keys(kind.example).join(', ')}, of which ${kind.required.join(', ')} are always there: ask for the others by {% if … %} first.`,
    });
  }
}

/** As far as it is names: what is computed (`lines[i]`) is tried by rendering. */
function isIn(values: unknown, path: readonly unknown[]): boolean {
  let at: unknown = values;
  for (const name of path) {
    if (typeof name !== 'string' || Array.isArray(at) || typeof at === 'string') return true;
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false;
    at = (at as Record<string, unknown>)[name];
  }
  return true;
}
