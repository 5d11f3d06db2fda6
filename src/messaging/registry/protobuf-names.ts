import { SchemaMismatch } from './malformed';

interface Scope {
  /** undefined: a block whose messages are not part of the file's (service, enum, options, oneof). */
  messages: Message[] | undefined;
}
interface Message {
  name: string;
  messages: Message[];
}

/**
 * Comments and strings go first, so that nothing in them is taken for more; then names and numbers, then single signs. What
 * is opened and never closed reaches to the end: were it no token, its search would begin again at each of its letters.
 */
const TOKEN = /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?|[\w.]+|[^\s]/g;
const MAX_TOKENS = 500_000;

/**
 * Full name of the message at a place of a file of Protobuf's language. Reads the text for nothing but packages, messages
 * and braces: all that an untrusted file is used for; and once, since each record names a place of its own. Throws
 * {@link SchemaMismatch}, as does what it returns where there is no such message.
 */
export function messageNames(text: string): (indexes: readonly number[]) => string {
  const { pkg, messages } = outline(text);
  return (indexes) => {
    const names = pkg === '' ? [] : [pkg];
    let level = messages;
    for (const index of indexes) {
      const message = level[index];
      if (!message) throw new SchemaMismatch(`the schema has no message at ${indexes.join('.')}`);
      names.push(message.name);
      level = message.messages;
    }
    return names.join('.');
  };
}

function outline(text: string): { pkg: string; messages: Message[] } {
  const messages: Message[] = [];
  const scopes: Scope[] = [{ messages }];
  let pkg = '';
  let statement: string[] = [];
  let tokens = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (++tokens > MAX_TOKENS) throw new SchemaMismatch(`the schema has more than ${MAX_TOKENS} words`);
    if (token.startsWith('//') || token.startsWith('/*')) continue;
    if (token === ';') {
      if (scopes.length === 1 && statement[0] === 'package' && statement[1]) pkg = statement[1];
      statement = [];
    } else if (token === '{') {
      scopes.push(opened(scopes.at(-1), statement));
      statement = [];
    } else if (token === '}') {
      if (scopes.length > 1) scopes.pop();
      statement = [];
    } else if (statement.length < 2) statement.push(token);
  }
  return { pkg, messages };
}

function opened(around: Scope | undefined, [keyword, name]: readonly string[]): Scope {
  if (!around?.messages || keyword !== 'message' || name === undefined) return { messages: undefined };
  const message: Message = { name, messages: [] };
  around.messages.push(message);
  return message;
}
