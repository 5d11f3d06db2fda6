import fc from 'fast-check';
import {
  type AnyContract,
  CONTRACTS,
  despatchAdvice,
  holdsPersonalData,
  mask,
  maskAt,
  notificationRequest,
  orderRequest,
  orderResponse,
  personalTexts,
  restore,
  withoutPersonalData,
} from '../../../src/contracts';
import { valueAt } from '../../../src/platform/json';

const text = { type: 'string' };
const personal = { ...text, 'x-personal-data': true };
/** Personal data at every depth, which no document of ours has. */
const visit: AnyContract = {
  ...orderResponse,
  jsonSchema: {
    type: 'object',
    properties: {
      number: text,
      host: { type: 'object', properties: { name: personal, room: text } },
      guests: {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: personal, badge: text, mails: { type: 'array', items: personal } },
        },
      },
    },
  },
};
const document = {
  number: 'V-1',
  host: { name: 'Kim Doe', room: '12' },
  guests: [
    { name: 'Sam Roe', badge: 'b1', mails: ['sam@a.example', 'roe@a.example'] },
    { name: 'Alex Poe', badge: 'b2', mails: [] },
  ],
};

describe('a masked document', () => {
  it('shows masks where people are named, at any depth, and all else as it is', () => {
    const { document: shown, hidden } = mask(visit, document);
    expect(shown).toEqual({
      number: 'V-1',
      host: { name: '•••', room: '12' },
      guests: [
        { name: '•••0', badge: 'b1', mails: ['•••0.0', '•••0.1'] },
        { name: '•••1', badge: 'b2', mails: [] },
      ],
    });
    expect(hidden).toContainEqual(['guests', 0, 'mails', 1]);
  });

  it('hides what its contract does not describe: unknown members, and other shapes than were agreed', () => {
    const strange = {
      number: { first: 'Kim', last: 'Doe' },
      host: 'Kim Doe',
      guests: [{ name: ['Sam'], badge: 7, buyer: 'Roe' }, 'Alex'],
      remark: 'ring Kim',
      __proto__: null,
    };
    expect(mask(visit, strange).document).toEqual({
      number: '•••',
      host: '•••',
      guests: [{ name: '•••0', badge: 7, buyer: '•••0' }, '•••1'],
      remark: '•••',
    });
    expect(mask(visit, ['Kim']).document).toBe('•••');
    expect(mask(visit, null)).toEqual({ document: null, hidden: [] });
  });

  it('holds nothing of its personal data, whatever the document is', () => {
    fc.assert(
      fc.property(fc.anything(), fc.uuid(), (anything, secret) => {
        const shown = mask(visit, {
          number: 'V',
          host: { name: secret, extra: anything },
          guests: [anything, { name: secret }],
        });
        expect(JSON.stringify(shown)).not.toContain(secret);
      }),
    );
  });

  it('shows a single place as the whole document does', () => {
    for (const pointer of ['/host/name', '/host', '/guests/1/name', '/guests/0', '/guests', '/number', '/host/fax']) {
      const tokens = pointer.split('/').slice(1);
      expect(maskAt(visit, tokens, valueAt(document, pointer))).toEqual(
        valueAt(mask(visit, document).document, pointer),
      );
    }
    expect(maskAt(visit, ['guests', '2'], { name: 'New' })).toEqual({ name: '•••2' });
    expect(maskAt(visit, ['host', 'fax'], '0123')).toBe('•••');
  });
});

describe('an edit of a masked document', () => {
  const shown = mask(visit, document).document as typeof document;

  it('keeps what its editor has not seen', () => {
    const edited = { ...shown, number: 'V-2', host: { name: '•••', room: '13' } };
    expect(restore(visit, edited, document)).toEqual({
      document: { ...document, number: 'V-2', host: { name: 'Kim Doe', room: '13' } },
      unresolved: [],
    });
  });

  it('takes new values, and lets members go', () => {
    const { document: mended } = restore(visit, { ...shown, host: { name: 'Lou Moe' }, guests: [] }, document);
    expect(mended).toEqual({ number: 'V-1', host: { name: 'Lou Moe' }, guests: [] });
  });

  it('gives everybody their own name when the items of a list are moved', () => {
    const { document: mended } = restore(visit, { ...shown, guests: shown.guests.toReversed() }, document);
    expect(mended).toEqual({ ...document, guests: document.guests.toReversed() });
  });

  it('names masks that stand for nothing: elsewhere, of no item, or where nothing is known', () => {
    const elsewhere = { ...shown, number: '•••', guests: [{ name: '•••7' }] };
    expect(restore(visit, elsewhere, document).unresolved).toEqual([['number'], ['guests', 0, 'name']]);
    expect(restore(visit, shown, undefined).unresolved).toHaveLength(5);
  });

  it('is as quick where there are as many masks as a body can hold', () => {
    const many = { guests: Array.from({ length: 30_000 }, (_, n) => ({ name: `Kim ${n}` })) };
    expect(restore(visit, mask(visit, many).document, many)).toEqual({ document: many, unresolved: [] });
  });

  it('undoes every mask', () => {
    const anything = fc.record({
      number: fc.anything(),
      host: fc.record({ name: fc.string(), more: fc.jsonValue() }),
      guests: fc.array(fc.oneof(fc.record({ name: fc.string(), mails: fc.array(fc.string()) }), fc.jsonValue())),
    });
    fc.assert(
      fc.property(anything, (drawn) => {
        // As JSON can say it, and without what looks like a mask by itself.
        const original: unknown = JSON.parse(JSON.stringify(drawn));
        fc.pre(!JSON.stringify(original).includes('•••'));
        expect(restore(visit, mask(visit, original).document, original)).toEqual({
          document: original,
          unresolved: [],
        });
      }),
    );
  });
});

describe("an error's text", () => {
  it('loses what it quotes of personal data, also escaped as JSON does', () => {
    const said = { ...document, host: { name: 'Kim "K" Doe', room: '12' } };
    const quoting = `bad value "Kim \\"K\\" Doe" near Kim "K" Doe, mails sam@a.example, room 12`;
    expect(withoutPersonalData(visit, said, quoting)).toBe('bad value "•••" near •••, mails •••, room 12');
  });

  it('loses what a bound has cut short, at its end and within, and no more than that', () => {
    const cut = 'HandlerError: refused for Kim\ncaused by Error: no such Kim…\ncaused by Error: value sam@a.exa…';
    expect(withoutPersonalData(visit, document, cut)).toBe(
      'HandlerError: refused for Kim\ncaused by Error: no such •••…\ncaused by Error: value •••…',
    );
    expect(withoutPersonalData(visit, document, 'it ends with a sa')).toBe('it ends with a sa');
  });

  it('loses what its contract does not describe, as the document does', () => {
    const said = { ...document, buyer: { name: 'Lou Moe' } };
    expect(withoutPersonalData(visit, said, 'V-1: Lou Moe is no buyer')).toBe('V-1: ••• is no buyer');
  });

  it('hides names that overlap whole', () => {
    const said = { host: { name: 'abab' } };
    expect(withoutPersonalData(visit, said, 'x ababab x')).toBe('x ••• x');
    expect(withoutPersonalData(visit, { host: { name: 'ab', room: '' }, guests: [{ name: 'bc' }] }, 'abc.')).toBe(
      '•••.',
    );
  });

  it('stays as long as it is, whatever somebody is called', () => {
    const names = ['in', ...Array.from({ length: 40 }, () => '••'), ...Array.from({ length: 40 }, () => '•••')];
    const said = { guests: names.map((name) => ({ name })) };
    expect(withoutPersonalData(visit, said, 'all is in vain')).toBe('all is ••• va•••');
  });

  it('says nothing where a document names more people than can be looked for', () => {
    const said = { guests: Array.from({ length: 200_000 }, (_, n) => ({ name: `guest ${n}` })) };
    expect(withoutPersonalData(visit, said, 'guest 7 is not known. '.repeat(100))).toBe('•••');
  });

  it('is left alone where nothing is personal', () => {
    expect(withoutPersonalData(orderResponse, { orderNumber: '4711', reason: 'late' }, 'late')).toBe('late');
  });
});

describe('contracts', () => {
  it('say which of them hold personal data', () => {
    const holding = CONTRACTS.filter(holdsPersonalData).map(({ name }) => name);
    expect(holding).toEqual([orderRequest.name, despatchAdvice.name, notificationRequest.name]);
  });

  it('find it in their examples', () => {
    const [, example] = orderRequest.examples;
    expect(personalTexts(orderRequest, example).map(({ path }) => path.join('.'))).toEqual([
      'contact.name',
      'contact.email',
      'contact.phone',
    ]);
  });
});
