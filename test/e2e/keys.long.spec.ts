import { userInfo } from 'node:os';
import { Client } from 'pg';
import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { ParleyProcess, Program } from '../support/parley-process';

describe('API keys on the command line', () => {
  let url: string;
  beforeAll(async () => {
    url = await freshDatabase();
  });

  const run = async (...args: string[]) => {
    const program = Program.run('cli/main.js', args, { DATABASE_URL: url, KAFKA_BROKERS: 'unused:1' });
    const code = await program.finished();
    return { code, output: program.output };
  };
  const me = `cli:${userInfo().username}`;

  it('make the first administrator, who opens the API until the key is revoked', async () => {
    const parley = await ParleyProcess.prepare(url);
    try {
      await parley.start();
      const made = JSON.parse(await parley.cli('key', 'create', '--name', 'first', '--role', 'admin', '--json')) as {
        id: string;
        token: string;
      };
      const status = async () =>
        (await fetch(`${parley.apiUrl}/v1/api-keys`, { headers: { authorization: `Bearer ${made.token}` } })).status;
      expect((await fetch(`${parley.apiUrl}/v1/api-keys`)).status).toBe(401);
      expect(await status()).toBe(200);
      expect(await parley.cli('key', 'revoke', made.id, '--reason', 'tried')).toContain(`revoked ${made.id}\n`);
      await eventually(async () => (await status()) === 401, { what: 'the key opens nothing any more' });
      expect(parley.output).not.toContain(made.token.slice(24));
    } finally {
      await parley.end('SIGKILL');
    }
  });

  it('print the token alone on standard output, and what it is good for beside it', async () => {
    const { code, output } = await run(
      ...['key', 'create', '--name', 'ERP', '--role', 'operator', '--areas', 'orders,shipments'],
      ...['--partners', 'acme', '--expires-in', '90d'],
    );
    expect(code).toBe(0);
    expect(output).toMatch(/^parley_key_[0-9a-f]{12}_[0-9a-f]{72}$/m);
    expect(output).toMatch(
      /^key_[0-9a-f]{12}\toperator\tERP\tareas orders,shipments\tpartners acme\tuntil 20.*last used never$/m,
    );
    expect(output).toContain('shown this once');
  });

  it('say which of their partners nobody knows, since such a key is made all the same', async () => {
    const stored = new Client({ connectionString: url });
    await stored.connect();
    await stored
      .query(`INSERT INTO partner (id, name, created_at) VALUES ('umbra', 'Umbra', now())`)
      .finally(() => stored.end());
    const create = ['key', 'create', '--name', 'x', '--role', 'viewer', '--partners', 'umbra,acmee'];
    const { code, output } = await run(...create);
    expect(code).toBe(0);
    expect(output).toMatch(/^There is no partner acmee yet: /m);
    expect(output).not.toContain('no partner umbra');
    expect(JSON.parse((await run(...create, '--json')).output)).toMatchObject({ partners: ['umbra', 'acmee'] });
  });

  it('are listed without their secrets, and what was done with them stands in the audit under the user of the machine', async () => {
    const { token, id } = JSON.parse(
      (await run('key', 'create', '--name', 'x', '--role', 'viewer', '--json')).output,
    ) as {
      token: string;
      id: string;
    };
    const listed = await run('key', 'list', '--json');
    expect(JSON.parse(listed.output)).toContainEqual(expect.objectContaining({ id, role: 'viewer', createdBy: me }));
    expect(listed.output).not.toContain(token.slice(24));
    expect((await run('key', 'list')).output).toMatch(
      new RegExp(`^${id}\tviewer\tx\tareas all\tpartners all\tfor ever`, 'm'),
    );
    const audited = await run('audit', '--object', `api-key/${id}`, '--since', '1h', '--json');
    expect(JSON.parse(audited.output)).toMatchObject([
      { caller: me, role: 'admin', action: 'api-key.create', object: `api-key/${id}` },
    ]);
    expect((await run('audit', '--action', 'api-key.create')).output).toContain(
      `\t${me}\tapi-key.create\tapi-key/${id}\tfrom `,
    );
    expect((await run('audit', '--action', 'none')).output).toBe('Nothing found.\n');
  });

  it.each([
    ['no role', ['--name', 'x']],
    ['a role that is none', ['--name', 'x', '--role', 'root']],
    ['a name that draws on the terminal', ['--name', '\u001b[2J', '--role', 'viewer']],
  ])('are not made with %s', async (_, args) => {
    expect((await run('key', 'create', ...args)).code).toBe(2);
  });

  it('are not revoked where there is none of that id', async () => {
    const { code, output } = await run('key', 'revoke', 'key_000000000000');
    expect([code, output]).toEqual([1, expect.stringContaining('There is no API key with this id.')]);
  });

  it('end with 5 where PostgreSQL does not let the user', async () => {
    const admin = new Client({ connectionString: url });
    await admin.connect();
    const role = `reader_${process.pid}`;
    try {
      await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'; GRANT SELECT ON api_key TO ${role}`);
      const theirs = new URL(url);
      [theirs.username, theirs.password] = [role, 'x'];
      const program = Program.run('cli/main.js', ['key', 'create', '--name', 'x', '--role', 'admin'], {
        DATABASE_URL: theirs.href,
        KAFKA_BROKERS: 'unused:1',
      });
      expect([await program.finished(), program.output]).toEqual([5, expect.stringContaining('permission denied')]);
    } finally {
      await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      await admin.end();
    }
  });
});
