/** Longest id that is taken as one; an index entry of PostgreSQL holds no more than about 2,700 bytes. */
const MAX_ID_LENGTH = 255;

// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Can the text be an id: not empty, bounded, without control characters (PostgreSQL's text takes no NUL)? */
export function isIdText(text: string): boolean {
  return text.length > 0 && text.length <= MAX_ID_LENGTH && !CONTROL.test(text);
}

/** Any text from outside, made fit for a text column: bounded, no NUL, no half surrogate pair. */
export function storableText(text: string, limit = MAX_ID_LENGTH): string {
  return text.slice(0, limit).replaceAll('\0', '\ufffd').toWellFormed();
}
