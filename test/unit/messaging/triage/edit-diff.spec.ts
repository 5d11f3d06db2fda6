import { despatchAdvice } from '../../../../src/contracts';
import { editDiff } from '../../../../src/messaging/triage/edit-diff';

const driver = { name: 'Ada', phone: '17' };
const original = { carrier: 'DHL', driver };
const MASKED = { name: '•••', phone: '•••' };

/** Which places an edit says it changes. */
const places = (sent: object, meant: object, before: object = original, edit?: Parameters<typeof editDiff>[4]) =>
  editDiff(despatchAdvice, { original: before, applied: edit?.document ?? before }, sent, meant, edit).map(
    ({ op, path }) => `${op} ${path}`,
  );

describe('what an edit changes', () => {
  it('names each hidden place that was given a value, whether that is the one it had or not', () => {
    const guesses = ['17', '18'].map((phone) => {
      const given = { carrier: 'UPS', driver: { name: 'Ada', phone } };
      return places({ ...given, driver: { ...MASKED, phone } }, given).toSorted();
    });
    expect(guesses).toEqual([0, 1].map(() => ['replace /carrier', 'replace /driver/phone']));
  });

  it('names no hidden place that was left as it was shown', () => {
    const meant = { carrier: 'UPS', driver };
    expect(places({ carrier: 'UPS', driver: MASKED }, meant)).toEqual(['replace /carrier']);
  });

  it('names them of an edit of an edit, too, and where the edit before had taken them away', () => {
    const guessed = { document: original, diff: [{ op: 'replace' as const, path: '/driver/phone', value: '17' }] };
    const meant = { carrier: 'UPS', driver };
    const sent = { carrier: 'UPS', driver: MASKED };
    expect(places(sent, meant, original, guessed)).toEqual(['replace /carrier', 'replace /driver/phone']);
    const gone = { document: { carrier: 'DHL' }, diff: [{ op: 'remove' as const, path: '/driver' }] };
    expect(places(original, original, original, gone)).toEqual(['replace /driver/name', 'replace /driver/phone']);
  });

  it('tells nothing of what is within a place that is hidden as a whole', () => {
    const before = { ...original, note: { 'of Ada': 1, b: 2 } };
    for (const note of [{ b: 2 }, { b: 3 }, { 'of Ada': 1, b: 2 }])
      expect(places({ carrier: 'DHL', driver: MASKED, note }, { ...original, note }, before)).toEqual([
        'replace /note',
      ]);
  });

  it('tells nothing of two hidden items of a list that change places', () => {
    const lines = [{ unknown: 'x' }, { unknown: 'x' }];
    const sent = { lines: [{ unknown: '•••1' }, { unknown: '•••0' }] };
    expect(places(sent, { lines }, { lines })).toEqual(['replace /lines/0/unknown', 'replace /lines/1/unknown']);
  });

  it('is a patch that makes of the original what is meant', () => {
    const meant = { carrier: 'DHL', driver: { name: 'Ada', phone: '17' } };
    expect(editDiff(despatchAdvice, { original, applied: original }, meant, meant)).toEqual([
      { op: 'replace', path: '/driver/name', value: 'Ada' },
      { op: 'replace', path: '/driver/phone', value: '17' },
    ]);
    expect(editDiff(despatchAdvice, { original: null, applied: null }, meant, meant)).toEqual([
      { op: 'replace', path: '', value: meant },
    ]);
  });
});
