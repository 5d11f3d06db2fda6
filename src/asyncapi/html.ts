/** Text that is HTML already: made by {@link html}, or written in this room. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly (string | Html)[] | undefined;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escape = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

/** HTML in which everything put in is escaped, unless it is HTML already; lists stand one entry a line. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: strings.raw }, ...parts.map(render)));
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escape(String(part));
  return part.map(render).join('\n');
}

/** Prose in which `code` stands between backticks. */
export function prose(text: string): Html {
  const pieces = text.split('`');
  const isCode = (index: number) => index % 2 === 1 && index < pieces.length - 1;
  return new Html(
    pieces.map((piece, index) => (isCode(index) ? html`<code>${piece}</code>` : html`${piece}`).text).join(''),
  );
}
