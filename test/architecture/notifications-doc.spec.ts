import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { length } from '../../src/cli/terminal/words';
import { NOTIFICATION_KEYS } from '../../src/platform/config/notification-keys';
import { signedHeaders } from '../../src/notifications/channels/webhook/signature';
import { CRASH_POLICIES } from '../../src/notifications/domain/kind';
import { STATES } from '../../src/notifications/domain/notification';
import { KINDS } from '../../src/notifications/kinds/catalogue';

const text = readFileSync(join(__dirname, '..', '..', 'docs', 'notifications.md'), 'utf8');

/** Cells of the table under this heading, without its titles. */
function rowsUnder(heading: string): string[][] {
  const section = text.slice(text.indexOf(`\n## ${heading}\n`) + 4).split(/\n## /)[0] ?? '';
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? [];
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .map((cells) => cells.slice(1, -1));
}

/** The code of this language that the page shows. */
function sample(language: string): string {
  const [, code] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(text) ?? [];
  if (code === undefined) throw new Error(`the page has no sample in ${language}`);
  return code;
}

describe('the page on notifications', () => {
  it('lists every kind as its file declares it', () => {
    expect(rowsUnder('What may be told')).toEqual(
      KINDS.map((kind) => [
        `\`${kind.name}\``,
        kind.channels.join(', '),
        [
          `\`${kind.crash}\``,
          ...Object.entries(kind.crashOver ?? {}).map(([channel, policy]) => `\`${policy}\` over ${channel}`),
        ].join('; '),
        kind.quietHours === 'respect' ? 'kept' : 'ignored',
        kind.urgency,
        length(kind.expiresMs / 1000),
        String(kind.retry.attempts),
        { event: 'Parley', request: 'requests', staff: 'staff' }[kind.source],
        kind.summary,
      ]),
    );
  });

  it.each([
    ['When nobody knows whether it went out', CRASH_POLICIES],
    ['The life of a notification', STATES],
  ])('explains all there is under "%s"', (heading, names) => {
    expect(rowsUnder(heading).map(([name]) => name)).toEqual(names.map((name) => `\`${name}\``));
  });

  it('names configuration keys that there are', () => {
    const keys = new Set(Object.values(NOTIFICATION_KEYS).map(({ env }) => env));
    const named = [...text.matchAll(/`((?:NOTIFICATION|SMTP|EMAIL|SMS|WEBHOOK)_[A-Z_]+)`/g)].map(
      ([, key]) => key ?? '',
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((key) => !keys.has(key))).toEqual([]);
  });
});

const SECRETS = [randomBytes(32), randomBytes(32)];
const [newest = '', older = ''] = SECRETS.map((secret) => `whsec_${secret.toString('base64')}`);
const BODY = JSON.stringify({
  type: 'parley.order-accepted',
  timestamp: '2026-11-30T09:15:00.000Z',
  data: { a: 'Zürich' },
});
const NOW = new Date();
/** As during a rotation. */
const HEADERS = signedHeaders('n-1', NOW, Buffer.from(BODY), SECRETS);

interface Delivery {
  body: string;
  headers: typeof HEADERS;
  secret: string;
}
const GENUINE: Delivery = { body: BODY, headers: HEADERS, secret: newest };
const late = signedHeaders('n-1', new Date(NOW.getTime() - 301_000), Buffer.from(BODY), SECRETS);
const DELIVERIES: [what: string, delivery: Delivery, genuine: boolean][] = [
  ['signed under the newest secret', GENUINE, true],
  ['signed under the one before it', { ...GENUINE, secret: older }, true],
  ['with another body', { ...GENUINE, body: BODY.replace('accepted', 'rejected') }, false],
  ['under another id', { ...GENUINE, headers: { ...HEADERS, 'webhook-id': 'n-2' } }, false],
  ['for who has another secret', { ...GENUINE, secret: `whsec_${randomBytes(32).toString('base64')}` }, false],
  ['of five minutes ago', { ...GENUINE, headers: late }, false],
  ['without a fitting signature', { ...GENUINE, headers: { ...HEADERS, 'webhook-signature': 'v1,AAAA' } }, false],
];

describe('how the page verifies a webhook', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-doc-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const file = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const all = () => JSON.stringify(DELIVERIES.map(([, delivery]) => delivery));
  const verdicts = DELIVERIES.map(([, , genuine]) => genuine);

  it("is judged here by what the standard's own library says, too", () => {
    const said = DELIVERIES.map(([, { body, headers, secret }]) => {
      try {
        return Boolean(new Webhook(secret).verify(body, { ...headers }));
      } catch {
        return false;
      }
    });
    expect(said).toEqual(verdicts);
  });

  /** Each verdict as the language's sample gives it. */
  const RUN: Readonly<Record<string, { program: string; said: () => unknown }>> = {
    Node: { program: process.execPath, said: inNode },
    Python: { program: 'python3', said: inPython },
    Java: { program: 'java', said: inJava },
  };

  it.each(Object.entries(RUN).filter(([, { program }]) => has(program)))(
    'in %s takes what is genuine and fresh, and nothing else',
    (_, { said }) => expect(said()).toEqual(verdicts),
    60_000,
  );

  function inNode(): unknown {
    const code = `${sample('js')}
      const said = ${all()}.map(({ body, headers, secret }) => {
        try { return verify(Buffer.from(body), headers, secret).id === 'n-1'; } catch { return false; }
      });
      console.log(JSON.stringify(said));`;
    return JSON.parse(execFileSync(process.execPath, [file('verify.mjs', code)], { encoding: 'utf8' }));
  }

  function inPython(): unknown {
    const code = `${sample('python')}
def genuine(one):
    try:
        return verify(one["body"].encode(), one["headers"], one["secret"])["id"] == "n-1"
    except ValueError:
        return False

with open(${JSON.stringify(file('all.json', all()))}) as deliveries:
    print(json.dumps([genuine(one) for one in json.load(deliveries)]))
`;
    return JSON.parse(execFileSync('python3', [file('verify.py', code)], { encoding: 'utf8' }));
  }

  function inJava(): unknown {
    const lines = sample('java').split('\n');
    const imports = lines.filter((line) => line.startsWith('import ')).join('\n');
    const shown = lines.filter((line) => !line.startsWith('import ')).join('\n');
    const calls = DELIVERIES.map(([, { body, headers, secret }]) => {
      const given = [headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature'], secret];
      const args = given.map((one) => JSON.stringify(one)).join(', ');
      return `System.out.println(ParleyWebhook.isGenuine(${JSON.stringify(body)}.getBytes("UTF-8"), ${args}, Instant.now()));`;
    });
    const main = `${imports}\nclass Main { public static void main(String[] args) throws Exception {\n${calls.join('\n')}\n} }\n${shown}`;
    const output = execFileSync('java', ['-Dfile.encoding=UTF-8', file('Main.java', main)], { encoding: 'utf8' });
    return output
      .trim()
      .split('\n')
      .map((line) => line === 'true');
  }
});

/** Is it on this machine? */
function has(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}
