import type { AnyContract } from './contract';
import { MASK, mask, memberOf } from './personal-data';

/** Shorter texts stand in every sentence. */
const SHORTEST = 2;
/** More than a document of ours has by far; each is looked for in the text. */
const MOST = 1000;
/** Where a bound has cut a text, or a line of it (`messageOf`). */
const CUT = /…(?=\n|$)/g;

/**
 * A text, such as an error's, without what it quotes of what {@link mask} hides of the document, be it cut short. All are looked for in the text
 * as it was: if masks were looked through, too, a partner whose driver is called "••" would make them grow until memory is full.
 */
export function withoutPersonalData(contract: AnyContract, document: unknown, text: string): string {
  const said = hiddenTexts(contract, document);
  if (said.size > MOST) return MASK;
  const hidden = new Uint8Array(text.length);
  const cuts = [...text.matchAll(CUT)].map(({ index }) => index);
  for (const one of said) {
    if (one.length < SHORTEST) continue;
    for (const form of new Set([one, JSON.stringify(one).slice(1, -1)])) {
      hideWhole(hidden, text, form);
      for (const end of cuts) hideBegun(hidden, text, form, end);
    }
  }
  return masked(text, hidden);
}

function hiddenTexts(contract: AnyContract, document: unknown): Set<string> {
  const said = new Set<string>();
  const gather = (value: unknown): void => {
    if (typeof value === 'string') said.add(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(gather);
  };
  for (const place of mask(contract, document).hidden) gather(place.reduce<unknown>(memberOf, document));
  return said;
}

function hideWhole(hidden: Uint8Array, text: string, form: string): void {
  let done = 0;
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
    hidden.fill(1, Math.max(at, done), at + form.length);
    done = at + form.length;
  }
}

function hideBegun(hidden: Uint8Array, text: string, form: string, end: number): void {
  for (let length = Math.min(form.length - 1, end); length >= SHORTEST; length--) {
    if (!text.startsWith(form.slice(0, length), end - length)) continue;
    hidden.fill(1, end - length, end);
    return;
  }
}

/** One mask for each stretch that is hidden. */
function masked(text: string, hidden: Uint8Array): string {
  let shown = '';
  for (let from = 0; from < text.length;) {
    const state = hidden[from];
    let to = from + 1;
    while (to < text.length && hidden[to] === state) to++;
    shown += state ? MASK : text.slice(from, to);
    from = to;
  }
  return shown;
}
