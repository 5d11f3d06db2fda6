import { channelsInFormat, generatePartnerDocuments } from '../../../src/asyncapi';
import { type AnyContract, orderRequest, orderResponse } from '../../../src/contracts';
import { html, prose } from '../../../src/asyncapi/html';

function pagesOf(contracts: readonly AnyContract[]) {
  const files = generatePartnerDocuments({
    partner: 'acme',
    contracts,
    channels: channelsInFormat(contracts, 'acme', 'json'),
  });
  return { parley: files.get('acme.parley.html') ?? '', partner: files.get('acme.partner.html') ?? '' };
}

describe('the page of a partner', () => {
  const { parley, partner } = pagesOf([orderRequest, orderResponse]);

  it('loads nothing: no script, no link to another place, no image, no import', () => {
    for (const page of [parley, partner]) {
      expect(page).not.toMatch(/<(script|link|img|iframe|object|embed)\b|@import|url\(|\ssrc=/i);
      const links = [...page.matchAll(/href="([^"]*)"/g)].map(([, target]) => target ?? '');
      expect(links.length).toBeGreaterThan(0);
      expect(links.filter((target) => !target.startsWith('#'))).toEqual([]);
    }
  });

  it('leads every link to an anchor, and has one for each message and channel', () => {
    const ids = [...partner.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(
      expect.arrayContaining(['orderRequestV1', 'orderResponseV1', 'ordersRequestV1', 'ordersResponseV1']),
    );
    const targets = [...partner.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id);
    expect(targets.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('says the same from the other side', () => {
    const actions = (page: string) => [...page.matchAll(/>(sends|receives)</g)].map(([, action]) => action);
    expect([actions(parley), actions(partner)]).toEqual([['sends'], ['receives']]);
  });

  it('shows fields with their rules, headers, an example and the schema', () => {
    expect(partner).toContain('<td data-label="Field"><code>lines[].quantity</code></td>');
    expect(partner).toContain('Where <code>responseCode</code> is <code>CA</code>');
    expect(partner).toContain('<code>ce_correlationid</code>');
    expect(partner).toContain('&quot;unitPrice&quot;: &quot;9.99&quot;');
    expect(partner).toContain('within 1 hour');
    expect(partner).toContain('After the first interim answer the final one is due within 1 day.');
    expect(partner).toContain('up to 2 times, each with 30 minutes to answer.');
  });

  it('closes what it opens', () => {
    const open: string[] = [];
    for (const [, slash, name] of partner.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
      if (name === undefined || name === 'meta') continue;
      if (slash === '') open.push(name);
      else expect(open.pop()).toBe(name);
    }
    expect(open).toEqual([]);
  });

  it('escapes whatever a contract says', () => {
    const attack = `<script>alert("1")</script>'&`;
    const hostile: AnyContract = {
      ...orderRequest,
      summary: attack,
      jsonSchema: {
        ...orderRequest.jsonSchema,
        properties: { [`${attack}x`]: { type: 'string', description: attack, pattern: attack } },
      },
      examples: [{ orderNumber: attack }],
    };
    const page = pagesOf([hostile]).partner;
    expect(page).not.toContain('<script');
    expect(page).not.toContain('alert("1")');
    expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;');
  });
});

describe('HTML', () => {
  it('is escaped where it is not HTML already', () => {
    expect(html`<b title="${'"'}">${'<'}${html`<i>${'&'}</i>`}${undefined}${3}</b>`.text).toBe(
      '<b title="&quot;">&lt;<i>&amp;</i>3</b>',
    );
  });

  it.each([
    ['a `b` c', 'a <code>b</code> c'],
    ['`<`', '<code>&lt;</code>'],
    ['one ` alone', 'one  alone'],
  ])('of the prose %j', (text, expected) => {
    expect(prose(text).text).toBe(expected);
  });
});
