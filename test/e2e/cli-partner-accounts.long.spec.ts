import { freshDatabase } from '../support/database';
import { asAdministrator, asParley, doorOf, guardedKafka } from '../support/guarded-kafka';
import { produce, uniqueName } from '../support/kafka';
import { ParleyProcess, Program } from '../support/parley-process';

const kafka = guardedKafka();
const partner = uniqueName('acme');
let url: string;
let parley: ParleyProcess;

/** `parley partner …`, as an administrator of the broker and of the API. */
async function begin(...args: string[]): Promise<Program> {
  const { headers } = await parley.key();
  return Program.run('cli/main.js', ['partner', ...args], {
    ...{ DATABASE_URL: url, PARLEY_URL: parley.apiUrl, PARLEY_API_KEY: headers.authorization.slice('Bearer '.length) },
    ...asParley(kafka),
    ...asAdministrator(kafka),
  });
}

async function run(...args: string[]) {
  const program = await begin(...args);
  const code = await program.finished();
  return { code, stdout: program.stdout, output: program.output };
}

beforeAll(async () => {
  url = await freshDatabase();
  parley = await ParleyProcess.prepare(url);
  await parley.start();
});
afterAll(() => parley.end('SIGKILL'));

describe('the accounts of a partner on the command line', () => {
  it('are rotated, tried without, ended, and shown at each step', async () => {
    const old = (await parley.addPartner(partner, '--partitions', '1', '--format', 'json')).account;
    const topic = `orders.${partner}.response.v1`;
    // Each command is a process: those that change nothing run together.
    const [plan, unasked, two] = await Promise.all([
      run('rotate', partner, '--plan'),
      run('rotate', partner),
      run('rotate', partner, '--disable', 'a', '--enable', 'a'),
    ]);
    expect(plan.stdout).toContain(`+ account ${partner}.2 (scram-sha-512), to be replaced before `);
    expect(plan.stdout).toContain(`~ account ${partner}.1: ends `);
    for (const refused of [unasked, two]) expect(refused).toMatchObject({ code: 2, stdout: '' });

    // Nobody reads its password.
    const unread = await begin('rotate', partner, '--yes');
    unread.child.stdout?.destroy();
    expect(await unread.finished()).toBe(1);
    expect(unread.output).toContain('Nobody read the secret, so it does not count.');

    const rotated = await run('rotate', partner, '--yes');
    expect(rotated.code).toBe(0);
    const [, password = ''] = /^password ([\w-]{32})$/m.exec(rotated.stdout) ?? [];
    const account = { username: `${partner}.2`, password };
    for (const login of [old, account]) await produce(topic, [{ value: '{}' }], doorOf(kafka, login));

    expect((await run('rotate', partner, '--disable', old.username, '--yes')).stdout).toBe(
      `${partner}.1: retiring, disabled\n`,
    );
    await expect(produce(topic, [{ value: '{}' }], doorOf(kafka, old))).rejects.toThrow();
    const [shown, listed, inUse] = await Promise.all([
      run('show', partner),
      run('list'),
      run('rotate', partner, '--retire-now', account.username, '--yes'),
    ]);
    expect(shown.stdout).toMatch(
      new RegExp(`^${partner}\\.1 +scram-sha-512 +retiring until 20.*, disabled since 20`, 'm'),
    );
    expect(shown.stdout).toMatch(new RegExp(`^${partner}\\.2 +scram-sha-512 +active until 20`, 'm'));
    expect(shown.stdout).toMatch(new RegExp(`^${topic} +they +json +1$`, 'm'));
    expect(shown.output).not.toContain(password);
    expect(listed.stdout).toMatch(
      new RegExp(
        `^${partner} +${partner} +active +${partner}\\.2 .*${partner}\\.1 retiring until .*, disabled since`,
        'm',
      ),
    );
    expect(inUse.code).toBe(1);
    expect(inUse.output).toContain('is the account that new clients get');

    expect((await run('rotate', partner, '--enable', old.username)).stdout).toBe(`${partner}.1: retiring\n`);
    await produce(topic, [{ value: '{}' }], doorOf(kafka, old));
    expect((await run('rotate', partner, '--retire-now', old.username, '--yes')).stdout).toBe(
      `${partner}.1: retired\n`,
    );
    await expect(produce(topic, [{ value: '{}' }], doorOf(kafka, old))).rejects.toThrow();
  }, 180_000);
});
