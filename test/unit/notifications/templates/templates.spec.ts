import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NonRetriableError } from '../../../../src/platform/errors';
import type { Content } from '../../../../src/notifications/domain/notification';
import { KINDS, kindOf } from '../../../../src/notifications/kinds/catalogue';
import { measure } from '../../../../src/notifications/templates/sms-text';
import { Templates, type Told } from '../../../../src/notifications/templates/templates';

const kind = (name: string) => {
  const found = kindOf(name);
  if (!found) throw new Error(`there is no kind ${name}`);
  return found;
};
const told = (data: Told['data']): Told => ({
  id: '0197b5a2-0000-5000-8000-000000000001',
  happenedAt: new Date('2026-11-30T09:15:00.000Z'),
  data,
});
const email = (content: Content) => {
  if (content.channel !== 'email') throw new Error('no e-mail');
  return content;
};

describe('templates', () => {
  const builtIn = Templates.load('');

  it.each(KINDS.flatMap((one) => one.channels.map((channel) => ({ one, channel, name: `${one.name} by ${channel}` }))))(
    'make $name from what its kind declares, with and without what may be missing',
    ({ one, channel }) => {
      const least = Object.fromEntries(one.required.map((name) => [name, one.example[name]]));
      for (const data of [one.example, least]) {
        const content = builtIn.compose(one, channel, told(data));
        expect(content.channel).toBe(channel);
        expect(JSON.stringify(content)).not.toMatch(/undefined|\[object|\{\{|\{%/);
      }
    },
  );

  it('put nothing remote, and nothing that runs, into an e-mail', () => {
    for (const one of KINDS) {
      const { html } = email(builtIn.compose(one, 'email', told(one.example)));
      expect(html).not.toMatch(/<(script|img|link|iframe|form|object|svg)|url\(|href=|src=|\son[a-z]+=/i);
      expect(html).toContain('0197b5a2-0000-5000-8000-000000000001');
    }
  });

  it.each(KINDS.filter(({ channels }) => channels.includes('sms')))('keep an SMS of $name to one part', (one) => {
    const content = builtIn.compose(
      one,
      'sms',
      told(one.name === 'announcement' ? { ...one.example, text: 'Short.' } : one.example),
    );
    expect(measure((content as { text: string }).text)).toMatchObject({ alphabet: 'gsm', parts: 1 });
  });

  it('say whose dead letters are open where several are told of together', () => {
    const { partner: _, ...rest } = kind('dead-letters-open').example;
    const partners = [
      { id: 'acme', name: 'Acme & Sons', count: 9 },
      { id: 'umbra', name: 'Umbra', count: 3 },
    ];
    const data = { ...rest, count: 20, partnerCount: 7, partners };
    const { subject, text, html } = email(builtIn.compose(kind('dead-letters-open'), 'email', told(data)));
    expect(subject).toBe('20 dead letter(s) open of 7 partners');
    for (const words of ['of 7 partners', '- Acme & Sons (acme): 9\n- Umbra (umbra): 3\n'])
      expect(text).toContain(words);
    expect(html).toContain('Acme &amp; Sons (acme): 9<br>Umbra (umbra): 3');
    const sms = builtIn.compose(kind('dead-letters-open'), 'sms', told(data));
    expect((sms as { text: string }).text).toContain('20 dead letter(s) open of 7 partners');
  });

  it('escape what partners say in HTML, and leave it alone in text', () => {
    const evil = '<img src=x onerror=alert(1)> & "{{ code }}"';
    const data = { ...kind('order-rejected').example, reason: evil, partner: { id: 'acme', name: '<b>Acme</b>' } };
    const { html, text } = email(builtIn.compose(kind('order-rejected'), 'email', told(data)));
    expect(html).not.toMatch(/<img|<b>/);
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt; &amp; &#34;{{ code }}&#34;');
    expect(text).toContain(evil);
  });

  it('keep a subject to one line, whatever it is made from', () => {
    const title = 'Hello\r\nBcc: everybody@example.com\u2028\u0000there';
    const { subject } = email(builtIn.compose(kind('message'), 'email', told({ title, text: 'x' })));
    expect(subject).toBe('Hello Bcc: everybody@example.com there');
    const long = email(builtIn.compose(kind('message'), 'email', told({ title: '😀'.repeat(500), text: 'x' })));
    expect(Array.from(long.subject)).toHaveLength(200);
  });

  it("tell a webhook the data as it is, in Standard Webhooks' form", () => {
    const content = builtIn.compose(kind('order-accepted'), 'webhook', told({ orderNumber: 'PO-1', extra: [1] }));
    expect(JSON.parse((content as { body: string }).body)).toEqual({
      type: 'parley.order-accepted',
      timestamp: '2026-11-30T09:15:00.000Z',
      data: { orderNumber: 'PO-1', extra: [1] },
    });
  });

  it('say what data lacks without a value of it', () => {
    const data = { orderNumber: 'PO-SECRET', partner: { id: 'acme' }, at: '2026-11-30T09:15:00.000Z' };
    const failing = () => builtIn.compose(kind('order-accepted'), 'email', told(data));
    expect(failing).toThrow('order-accepted.email.subject.liquid can\'t be made: there is no "partner.name".');
    expect(failing).not.toThrow('PO-SECRET');
  });
});

describe('templates of an installation', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-templates-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const hintOf = (loading: () => unknown): string | undefined => {
    try {
      loading();
    } catch (error) {
      return (error as NonRetriableError).hint;
    }
    return undefined;
  };

  it('take the place of single files', () => {
    write('order-accepted.email.subject.liquid', 'Ja: {{ orderNumber }}');
    write('_layout.email.html.liquid', '<p>ours</p>{% block content %}{% endblock %}');
    const { subject, html, text } = email(
      Templates.load(folder).compose(kind('order-accepted'), 'email', told(kind('order-accepted').example)),
    );
    expect(subject).toBe('Ja: PO-000000017');
    expect(html).toMatch(/^<p>ours<\/p>/);
    expect(text).toContain('Acme Ltd accepted order PO-000000017');
  });

  it.each([
    ['a name that the kind does not have', 'order-accepted.sms.liquid', '{{ ordernumber }}', 'ordernumber'],
    ['one below a name', 'order-accepted.sms.liquid', '{{ partner.nmae }}', 'partner.nmae'],
    ['one that may be missing', 'order-accepted.sms.liquid', '{{ orderNumber }}: {{ reason }}', 'reason'],
    [
      'one where nothing is rendered',
      'order-accepted.sms.liquid',
      '{% if at == "never" %}{{ oops }}{% endif %}',
      'oops',
    ],
    ['one asked for in a condition alone', 'order-accepted.sms.liquid', '{% if raeson %}!{% endif %}', 'raeson'],
    ['one of an item', 'order-changed.sms.liquid', '{% for line in lines %}{{ line.price }}{% endfor %}', 'line.price'],
    ['a prototype', 'order-accepted.sms.liquid', '{{ partner.constructor }}', 'partner.constructor'],
    ['one in a part', '_footer.email.text.liquid', '{{ notification.sender }}', 'notification.sender'],
  ])('keep the process from starting with %s, and name file and variable', (_, file, text, name) => {
    write(file, text);
    const loading = () => Templates.load(folder);
    expect(loading).toThrow(`there is no "${name}"`);
    expect(loading).toThrow(file.startsWith('_') ? 'order-accepted.email.text.liquid' : file);
    expect(hintOf(loading)).toMatch(/^Its data has orderNumber, .* of which orderNumber, .* are always there/);
  });

  it.each([
    ['a filter that is none', 'order-accepted.sms.liquid', '{{ orderNumber | shout }}', 'undefined filter: shout'],
    ['a tag that is not ended', 'order-accepted.sms.liquid', '{% if orderNumber %}', 'not closed'],
    ['a file outside of the folder', 'order-accepted.sms.liquid', "{% include '/etc/hostname' %}", 'Failed to lookup'],
    ['a file above the folder', 'order-accepted.sms.liquid', "{% render '../../package.json' %}", 'Failed to lookup'],
    ['a loop without end', 'order-accepted.sms.liquid', '{% for i in (1..99999999) %}x{% endfor %}', 'limit exceeded'],
    ['a name that nothing uses', 'order-acepted.sms.liquid', 'x', 'which no notification uses'],
    ['a file that is too large', 'order-accepted.sms.liquid', 'x'.repeat(60_000), 'larger than'],
  ])('keep the process from starting with %s', (_, file, text, reason) => {
    write(file, text);
    expect(() => Templates.load(folder)).toThrow(reason);
    expect(() => Templates.load(folder)).toThrow(file);
  });

  it('keep the process from starting when their folder is not there', () => {
    expect(() => Templates.load(join(folder, 'none'))).toThrow(/^The templates cannot be read: .*ENOENT/);
  });
});
