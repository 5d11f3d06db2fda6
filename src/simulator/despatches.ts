import { type DespatchAdvice, despatchAdvice, type DespatchAdviceLine, type OrderRequest } from '../contracts';
import type { Codec } from '../messaging/registry';
import type { Pace } from './answers';
import type { Behaviour } from './behaviour';
import type { Request } from './inbound';
import { answerId, makeMessage, type Message } from './message';

/** Digits behind the point that a decimal of our documents has at most. */
const SCALE = 6;
/** Digits before it. */
const MOST = 10n ** 24n - 1n;
const ONE = 10n ** BigInt(SCALE);
/** Most characters of a despatch number. */
const LONGEST_NUMBER = 64;

const SHIPPING: readonly Behaviour[] = ['ship', 'over-ship', 'ship-early', 'misprint'];
export const despatchesGoods = (behaviour: Behaviour): boolean => SHIPPING.includes(behaviour);

/**
 * What the partner sends for an order, one list a despatch. An order of several lines goes in two, half of each line
 * and the rest. `over-ship`: first one more of the first line than was ordered, which is refused, then what was ordered.
 */
export function goodsOf(
  { lines }: Pick<OrderRequest, 'lines'>,
  behaviour: Behaviour,
): readonly (readonly DespatchAdviceLine[])[] {
  if (!despatchesGoods(behaviour)) return [];
  const all = lines.map(({ lineNumber, quantity }) => ({ lineNumber, millionths: millionthsOf(quantity) }));
  const written = (goods: typeof all) =>
    goods
      .filter(({ millionths }) => millionths > 0n)
      .map(({ lineNumber, millionths }) => ({ lineNumber, quantity: decimalOf(millionths) }));
  if (behaviour === 'over-ship') {
    const [first, ...others] = all;
    const fits = first !== undefined && first.millionths + ONE <= MOST;
    return fits
      ? [written([{ ...first, millionths: first.millionths + ONE }, ...others]), written(all)]
      : [written(all)];
  }
  const half = written(all.map((line) => ({ ...line, millionths: line.millionths / 2n })));
  if (all.length === 1 || half.length === 0) return [written(all)];
  return [half, written(all.map((line) => ({ ...line, millionths: line.millionths - line.millionths / 2n })))];
}

/** Advices for an order, each an exchange that the partner begins. */
export function despatches(request: Request, behaviour: Behaviour, pace: Pace, codec: Codec): Promise<Message[]> {
  const { party, id: causationId, document } = request;
  const { orderNumber, issuedAt } = document;
  const advices = goodsOf(document, behaviour).map(async (lines, index) => {
    const despatchNumber = numberOf(orderNumber, causationId, index + 1);
    const id = answerId(causationId, despatchNumber);
    const advice = {
      ...{ orderNumber, despatchNumber, issuedAt, carrier: 'Parcel Ltd', trackingNumber: `PX-${id.slice(0, 8)}` },
      ...{ grossWeightGrams: String(1250 * lines.length), lines: [...lines] },
    };
    const correlationId = answerId(causationId, `${despatchNumber}/exchange`);
    const afterMs = pace.delayMs + pace.shipMs * (behaviour === 'ship-early' ? index : index + 1);
    const occasion = { party, orderNumber, time: issuedAt, causationId, correlationId, afterMs };
    const isMisprinted = behaviour === 'misprint' && index === 0;
    const written = isMisprinted ? { ...advice, lines: withPoint(lines) } : advice;
    const message = await makeMessage(despatchAdvice, written, { ...occasion, id, code: 'despatch' }, codec);
    return { ...message, despatchNumber, ...(isMisprinted ? { value: misprinted(message.value, written) } : {}) };
  });
  return Promise.all(advices);
}

const withPoint = ([first, ...others]: readonly DespatchAdviceLine[]): DespatchAdviceLine[] =>
  first === undefined
    ? []
    : [{ ...first, quantity: first.quantity.includes('.') ? first.quantity : `${first.quantity}.0` }, ...others];

/** A comma in place of the first quantity's point, in the bytes: no codec of ours would write it. As long as before, so it stays a frame. */
function misprinted(value: Buffer, { lines: [first] }: DespatchAdvice): Buffer {
  const quantity = first?.quantity ?? '';
  const bytes = Buffer.from(value);
  // Lines come last in every format; a time before them may have the same digits.
  bytes.write(quantity.replace('.', ','), bytes.lastIndexOf(quantity));
  return bytes;
}

/** Unique with the partner; from the order number where it is not too long for that. */
function numberOf(orderNumber: string, requestId: string, part: number): string {
  const readable = `D-${orderNumber}-${part}`;
  return readable.length <= LONGEST_NUMBER ? readable : `D-${answerId(requestId, 'despatch')}-${part}`;
}

export function millionthsOf(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(SCALE, '0'));
}

function decimalOf(millionths: bigint): string {
  const digits = String(millionths).padStart(SCALE + 1, '0');
  const fraction = digits.slice(-SCALE).replace(/0+$/, '');
  return digits.slice(0, -SCALE) + (fraction === '' ? '' : `.${fraction}`);
}
