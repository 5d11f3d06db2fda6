import {
  answersOf,
  type Crossed,
  judgeAnswer,
  judgeCancellations,
  judgeMalformed,
  judgeRepeated,
  judgeSequence,
} from '../../../../src/simulator/certification/judging';
import type { Heard } from '../../../../src/simulator/company/heard';
import type { Exchange, OrderFile } from '../../../../src/simulator/company/ledger';
import { orderDocument } from '../../../../src/simulator/company/requests';

/** `AB@12`, or `AP@30!` for a repeat. */
function exchange(...answers: readonly string[]): Exchange {
  return {
    ...{ kind: 'order', order: 'A-1', id: 'r', correlationId: 'c', writtenAt: 1_000 },
    answers: answers.map((text) => {
      const [, code = '', ms = '', again] = /^(\w\w)@(\d+)(!)?$/.exec(text) ?? [];
      return { code, id: code, at: 1_000 + Number(ms), isRepeat: again !== undefined };
    }),
  };
}

const request = orderDocument('A-1', ['X'], '2', new Date(0));
const file = (words: readonly string[] = [], faults: OrderFile['faults'] = []): OrderFile => ({
  ...{ request, words: [...words], despatches: [], refusals: [], faults },
});
const broken = file(
  [],
  [
    {
      fault: { code: 'invalid', detail: 'must be text', pointer: '/issuedAt' },
      heard: { topic: 't', partition: 1, offset: '7' } as Heard,
    },
  ],
);

describe('an answer', () => {
  it('passes when it is the one that the article asks for, in time', () => {
    expect(judgeAnswer(exchange('AB@5', 'AP@90'), file(), 'AP', 100)).toEqual({
      ...{ verdict: 'passed', seen: ['A-1: AB after 5 ms, AP after 90 ms'] },
    });
  });

  it.each([
    ['is missing', exchange('AB@5'), file(), /AB alone is no final answer/],
    ['is another', exchange('RE@5'), file(), /CERT-ACCEPT with AP/],
    ['comes late', exchange('AP@101'), file(), /within 100 ms/],
    ['breaks its contract', exchange('AP@5'), broken, /JSON Schema/],
    ['is despatched beyond the order', exchange('AP@5'), { ...file(), refusals: ['despatch D-1'] }, /no more than/],
  ])('fails when it %s', (_, asked, own, next) => {
    const outcome = judgeAnswer(asked, own, 'AP', 100);
    expect(outcome.verdict).toBe('failed');
    expect(outcome.next).toMatch(next);
  });

  it('is told with its repeats, and with the place of what broke its contract', () => {
    expect(answersOf(exchange('AP@5', 'AP@6!'))).toBe('AP after 5 ms, AP again');
    expect(answersOf(exchange())).toBe('no answer');
    expect(judgeAnswer(exchange(), file(), 'AP', Infinity).next).toMatch(/^Answer every order with AP/);
    expect(judgeAnswer(exchange(), broken, 'AP', 1).seen).toContain(
      'invalid: must be text (/issuedAt), at t/1 offset 7',
    );
  });
});

describe('a request that comes twice', () => {
  it('passes with its answer repeated, or said once', () => {
    expect(judgeRepeated(exchange('AP@5', 'AP@6!'), file(), exchange('AP@9')).verdict).toBe('passed');
    expect(judgeRepeated(exchange('AP@5'), file(), exchange('AP@9')).verdict).toBe('passed');
  });

  it('fails with a second effect, without an answer, and when nothing follows it', () => {
    expect(judgeRepeated(exchange('AP@5'), broken, exchange('AP@9')).next).toMatch(/transaction of its effect/);
    expect(judgeRepeated(exchange(), file(), exchange('AP@9')).verdict).toBe('failed');
    expect(judgeRepeated(exchange('AP@5'), file(), exchange()).next).toMatch(/Go on/);
  });
});

describe('what breaks its contract', () => {
  const tried = (bad: Exchange, fence: Exchange) => judgeMalformed([{ what: 'garbage', bad, fence }]);

  it('passes when it is rejected or set aside, and the order behind it accepted', () => {
    expect(tried(exchange(), exchange('AP@1')).verdict).toBe('passed');
    expect(tried(exchange('RE@1'), exchange('AP@1')).verdict).toBe('passed');
  });

  it('fails when it is accepted, or stops what is behind it', () => {
    expect(tried(exchange('AP@1'), exchange('AP@1')).next).toMatch(/Never accept/);
    expect(tried(exchange(), exchange()).next).toMatch(/go on/);
  });
});

describe('orders and their cancellations', () => {
  const crossed = (words: readonly string[], cancellation = exchange('AP@9')): Crossed & { what: string } => ({
    ...{ what: 'crossed', order: exchange('AP@5'), cancellation, file: file(words) },
  });

  it.each([
    [['AP', 'cancellation-AP']],
    [['AP', 'cancellation-RE']],
    [['cancellation-AP']],
    [['cancellation-AP', 'RE']],
  ])('pass with the words %j', (words) => {
    expect(judgeSequence([crossed(words)]).verdict).toBe('passed');
    expect(judgeCancellations([crossed(words)]).verdict).toBe('passed');
  });

  it('fail when the cancellation is refused before the order is answered', () => {
    const outcome = judgeSequence([crossed(['AP', 'cancellation-RE']), crossed(['cancellation-RE', 'AP'])]);
    expect(outcome.verdict).toBe('failed');
    expect(outcome.seen.at(-1)).toBe('A-1: cancellation-RE, then AP');
  });

  it('fail while one of them waits for its answer', () => {
    expect(judgeSequence([crossed(['AP'], exchange())]).next).toMatch(/Answer every cancellation/);
    expect(judgeCancellations([crossed(['cancellation-RE'])]).next).toMatch(/every order that is not cancelled/);
  });
});
