import { afterAnswer, isLate } from '../../../../src/messaging/exchanges/domain/answer';
import { lookAgain, verdictOf } from '../../../../src/messaging/exchanges/domain/deadline';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const openedAt = new Date('2026-03-01T10:00:00Z');
const after = (ms: number) => new Date(openedAt.getTime() + ms);
const deadline = after(HOUR);
const now = after(HOUR + MINUTE);
const policy = { deadlineMs: HOUR, resend: { times: 2, everyMs: 30 * MINUTE } };
const request = { state: 'awaiting' as const, resends: 0, openedAt, deadline };
const inTime = { publication: { sentAt: after(20) }, hasParkedAnswer: false };

describe('a request whose deadline has passed', () => {
  it('is sent again while its contract allows, and overdue after that', () => {
    const verdicts = [0, 1, 2].map((resends) => verdictOf({ ...request, resends }, inTime, policy, now));
    expect(verdicts).toEqual([
      { kind: 'resend', deadline: new Date(now.getTime() + 30 * MINUTE) },
      { kind: 'resend', deadline: new Date(now.getTime() + 30 * MINUTE) },
      { kind: 'overdue', reason: 'no answer, though sent 3 times' },
    ]);
  });

  it('is overdue at once where its contract says nothing of sending again', () => {
    expect(verdictOf(request, inTime, { deadlineMs: HOUR }, now)).toEqual({
      kind: 'overdue',
      reason: 'no answer in time',
    });
  });

  it('is not sent again to who has acknowledged it', () => {
    expect(verdictOf({ ...request, state: 'acknowledged' }, inTime, policy, now)).toMatchObject({ kind: 'overdue' });
  });

  it('waits for its own publication and for what is parked, whatever else holds', () => {
    expect(verdictOf(request, { ...inTime, publication: 'waiting' }, policy, now)).toMatchObject({
      why: 'not-published',
    });
    for (const state of ['awaiting', 'acknowledged'] as const) {
      const facts = { ...inTime, hasParkedAnswer: true };
      expect(verdictOf({ ...request, state }, facts, policy, now)).toMatchObject({ why: 'answer-parked' });
    }
  });

  describe('and whose partner was paused or suspended', () => {
    const stop = (from: number, to: number) => ({ from: after(from), to: after(to) });
    const judged = (stops: { from: Date; to: Date }[], change = {}, at = now) =>
      verdictOf({ ...request, ...change }, { ...inTime, stops }, policy, at);

    it('when it would have passed, has what was left of its time then', () => {
      const stops = [stop(50 * MINUTE, 70 * MINUTE)];
      expect(judged(stops, {}, after(71 * MINUTE))).toEqual({ kind: 'postpone', deadline: after(80 * MINUTE) });
      expect(judged(stops, { state: 'acknowledged' }, after(71 * MINUTE))).toMatchObject({ kind: 'postpone' });
      expect(judged(stops, { resends: 2 }, after(71 * MINUTE))).toMatchObject({ kind: 'postpone' });
      expect(judged(stops, { deadline: after(80 * MINUTE) }, after(81 * MINUTE))).toMatchObject({ kind: 'resend' });
    });

    it('twice, has it twice', () => {
      const stops = [stop(50 * MINUTE, 70 * MINUTE), stop(75 * MINUTE, 95 * MINUTE)];
      expect(judged(stops, {}, after(96 * MINUTE))).toEqual({ kind: 'postpone', deadline: after(100 * MINUTE) });
    });

    it('before or after that, has no more', () => {
      expect(judged([stop(10 * MINUTE, 20 * MINUTE)])).toMatchObject({ kind: 'resend' });
      expect(judged([stop(HOUR + 1, HOUR + 30_000)])).toMatchObject({ kind: 'resend' });
    });

    it('has all of its time from when a request that waited meanwhile was sent', () => {
      const facts = { publication: { sentAt: after(70 * MINUTE) }, stops: [stop(MINUTE, 70 * MINUTE)] };
      expect(verdictOf(request, { ...inTime, ...facts }, policy, after(71 * MINUTE))).toEqual({
        kind: 'postpone',
        deadline: after(130 * MINUTE),
      });
    });
  });

  it('gives the partner its time from when the request was published, once, and only where that was late', () => {
    const published = (ms: number) => ({ ...inTime, publication: { sentAt: after(ms) } });
    expect(verdictOf(request, published(50 * MINUTE), policy, now)).toEqual({
      kind: 'postpone',
      deadline: after(110 * MINUTE),
    });
    expect(
      verdictOf({ ...request, deadline: after(110 * MINUTE) }, published(50 * MINUTE), policy, after(110 * MINUTE)),
    ).toMatchObject({
      kind: 'resend',
    });
    expect(verdictOf(request, published(30_000), policy, after(HOUR + 1))).toMatchObject({ kind: 'resend' });
    expect(verdictOf({ ...request, resends: 1 }, published(50 * MINUTE), policy, now)).toMatchObject({
      kind: 'resend',
    });
  });

  it('can not be sent again where nobody has its bytes any more', () => {
    expect(verdictOf(request, { ...inTime, publication: 'dropped' }, policy, now)).toMatchObject({
      kind: 'overdue',
      reason: expect.stringContaining('no longer keeps the request') as string,
    });
  });

  it('is overdue, and nothing is sent again, where staff have discarded it in the outbox', () => {
    const discarded = { ...inTime, publication: 'discarded' as const };
    const reasons = [0, 1].map((resends) => verdictOf({ ...request, resends }, discarded, policy, now));
    expect(reasons).toEqual([
      { kind: 'overdue', reason: 'staff discarded the request, so it was never sent' },
      { kind: 'overdue', reason: 'no answer, and staff discarded the request that was to be sent again' },
    ]);
    expect(verdictOf(request, { ...discarded, hasParkedAnswer: true }, policy, now).kind).toBe('wait');
  });

  it('is looked at again the more rarely the longer it is stuck', () => {
    const pauses = [1, 60, 24 * 60].map((minutes) => {
      const later = new Date(deadline.getTime() + minutes * MINUTE);
      return (lookAgain(deadline, later).getTime() - later.getTime()) / MINUTE;
    });
    expect(pauses).toEqual([1, 15, 30]);
  });
});

describe('an answer', () => {
  type State = Parameters<typeof afterAnswer>[0]['state'];
  const TABLE: [State, string | null, 'interim' | 'final', State, moved: boolean][] = [
    ['awaiting', null, 'interim', 'acknowledged', true],
    ['awaiting', null, 'final', 'answered', false],
    ['acknowledged', 'AB', 'interim', 'acknowledged', false],
    ['acknowledged', 'AB', 'final', 'answered', false],
    ['overdue', null, 'interim', 'acknowledged', true],
    ['overdue', 'AB', 'interim', 'overdue', false],
    ['overdue', null, 'final', 'answered-late', false],
    ['withdrawn', null, 'interim', 'withdrawn', false],
    ['withdrawn', null, 'final', 'withdrawn', false],
    ['answered', 'AP', 'interim', 'answered', false],
  ];
  it.each(TABLE)('given %s (last %s), when an %s one comes, leaves it %s', (state, answerCode, answer, then, moved) => {
    expect(afterAnswer({ state, answerCode }, answer, now, HOUR)).toEqual({
      state: then,
      ...(moved ? { deadline: new Date(now.getTime() + HOUR) } : {}),
    });
  });

  it('is late behind the deadline, when sent again before, and when overdue', () => {
    const exchange = { state: 'awaiting' as const, deadline, resends: 0 };
    expect(isLate(exchange, after(HOUR))).toBe(false);
    expect(isLate(exchange, after(HOUR + 1))).toBe(true);
    expect(isLate({ ...exchange, resends: 1, deadline: after(2 * HOUR) }, now)).toBe(true);
    expect(isLate({ ...exchange, state: 'acknowledged', resends: 1, deadline: after(2 * HOUR) }, now)).toBe(false);
    expect(isLate({ ...exchange, state: 'overdue' }, after(1))).toBe(true);
    expect(isLate({ ...exchange, deadline: null }, now)).toBe(false);
  });
});
