/** PostgreSQL's text and jsonb take neither NUL nor half a surrogate pair, and JSON can carry both: each becomes U+FFFD. */
export const storable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed();
