import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs the demo as somebody who has cloned the project; rejects unless it ends with 0. */
async function demo(...args: string[]): Promise<string> {
  const options = { env: { PATH: process.env['PATH'], HOME: process.env['HOME'] }, maxBuffer: 1 << 24 };
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/demo.mjs', ...args], options);
  return stdout;
}

describe('the demo, on the real program', () => {
  let text: string;
  beforeAll(async () => {
    text = await demo('--orders', '24', '--trouble-orders', '0');
  }, 480_000);

  it('loses nothing, and accounts for every message and every notification', () => {
    expect(text).toContain('Nothing lost, nothing repeated, nothing out of order, every message accounted for');
    expect(text).toMatch(/e-mail +[1-9]\d* +[1-9]/);
    expect(text).toMatch(/webhook +[1-9]\d* +[1-9]/);
    expect(text).toContain('messages without a recorded end: 0');
  });

  it('tells of an order in its story, and shows the e-mail', () => {
    expect(text).toMatch(/notified +E-mail to purchasing about the acceptance: sent\./);
    expect(text).toMatch(
      /To: purchasing@company\.example\n +Subject: Order \S+ (rejected|accepted) by .+\n +Message-ID: <[0-9a-f-]{36}@company\.example>\n +\S/,
    );
  });

  it('shows a webhook whose signature holds, and that a changed one is refused', () => {
    expect(text).toMatch(/webhook-id: [0-9a-f-]{36}\n +webhook-signature: v1,/);
    expect(text).toMatch(
      /Standard Webhooks: the signature holds\n.*another order number in it: No matching signature found/,
    );
  });

  it('sends once what one of our own systems asks for twice', () =>
    expect(text).toMatch(/SMS that went out: 1 +“204 655 is your code/));

  it.each([
    ['repeat', 2, 'sent'],
    ['skip', 1, 'failed (may-have-gone-out)'],
    ['look-up', 1, 'sent (found)'],
    ['look-up', 1, 'unknown (nobody-knows)'],
  ])('killed between sending and writing so, goes by the policy %s: received %d, and %s', (policy, received, says) => {
    const rows = text.split('\n').map((line) => line.trim().split(/ {2,}/));
    expect(rows).toContainEqual([policy, expect.stringMatching(/, by (SMS|e-mail)/), String(received), says]);
  });

  it('lets a person say what nobody could be asked about', () =>
    expect(text).toMatch(/\$ parley notifications resolve ([0-9a-f-]{36}) --delivered .*\n +notification \1 sent/));
});
