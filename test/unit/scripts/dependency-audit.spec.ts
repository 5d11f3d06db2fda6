import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { advisoriesOf, faultsOf, judge } from '../../../scripts/audit/judge.mjs';

/** As npm 11 answers: what only depends on an affected package names that one. */
const cause = (name: string, advisory: string, severity: string) => ({
  ...{ source: 1_104_001, name, dependency: name, title: `A hole in ${name}`, severity, range: '<2.0.0' },
  ...{ url: `https://github.com/advisories/${advisory}`, cwe: ['CWE-79'], cvss: { score: 6.1, vectorString: null } },
});
const affected = (name: string, severity: string, ...via: (string | object)[]) => ({
  ...{ name, severity, isDirect: false, via, effects: [], range: '<2.0.0', nodes: [`node_modules/${name}`] },
  fixAvailable: true,
});
const report = (...all: ReturnType<typeof affected>[]) => ({
  auditReportVersion: 2,
  vulnerabilities: Object.fromEntries(all.map((one) => [one.name, one])),
  metadata: { vulnerabilities: { total: all.length }, dependencies: { prod: 211, dev: 702, total: 913 } },
});
const shipped = affected('parser', 'moderate', cause('parser', 'GHSA-aaaa-bbbb-cccc', 'moderate'));
const carrier = affected('framework', 'moderate', 'parser');
const mild = affected('runner', 'moderate', cause('runner', 'GHSA-dddd-eeee-ffff', 'moderate'));
const severe = affected('bundler', 'high', cause('bundler', 'GHSA-gggg-hhhh-iiii', 'high'));
const entry = { package: 'parser', advisory: 'GHSA-aaaa-bbbb-cccc', reason: 'not reached', until: '2026-12-31' };
/** What npm says where the registry has no advisories, as it was recorded. */
const NO_ADVISORIES = {
  message: '405 Method Not Allowed - POST https://registry.npmjs.org/-/npm/v1/security/advisories/bulk',
  ...{ method: 'POST', statusCode: 405, body: '', error: { summary: '', detail: '' } },
};

describe('advisories of an audit', () => {
  it('are told once, however many packages depend on the affected one', () => {
    expect(advisoriesOf(report(shipped, carrier))).toEqual([
      expect.objectContaining({ package: 'parser', advisory: 'GHSA-aaaa-bbbb-cccc', severity: 'moderate' }),
    ]);
  });

  it('are not read from another kind of answer', () => {
    expect(() => void advisoriesOf({ actions: [], advisories: {} })).toThrow('npm 7');
  });
});

describe('the judge of an audit', () => {
  const levels = { production: 'low', development: 'high' };
  const judged = (production: object, all: object, allowed: object[] = [], today = '2026-11-30') =>
    judge({ production: advisoriesOf(production), all: advisoriesOf(all), allowed, levels, today });

  it('holds what is shipped to another measure than what development needs', () => {
    const { failures } = judged(report(shipped), report(shipped, mild, severe));
    expect(failures).toEqual([
      expect.stringContaining('parser <2.0.0 (production): moderate'),
      expect.stringContaining('bundler <2.0.0 (development): high'),
    ]);
  });

  it('lets pass what is allowed, up to and with its last day', () => {
    const on = (today: string) => judged(report(shipped), report(shipped), [entry], today);
    expect(on('2026-12-31')).toEqual({ failures: [], accepted: [expect.stringContaining('not reached')] });
    expect(on('2027-01-01').failures).toEqual([expect.stringContaining('it was allowed until 2026-12-31')]);
  });

  it('fails for an entry that nothing needs any more', () => {
    expect(judged(report(), report(), [entry]).failures).toEqual([
      expect.stringContaining('parser GHSA-aaaa-bbbb-cccc, and nothing has it'),
    ]);
  });

  it.each([
    [{}, 'is no list'],
    [[{ ...entry, reason: ' ' }], 'lacks reason'],
    [[{ package: 'x' }], 'lacks advisory, reason, until'],
    [[{ ...entry, until: 'next year' }], 'is no day'],
  ])('takes no allow-list like %j', (allowed, fault) => {
    expect(faultsOf(allowed)).toEqual([expect.stringContaining(fault)]);
  });
});

describe('scripts/dependency-audit.mjs', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-audit-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs it with an npm that gives recorded answers: without and with what only development needs. */
  function run(answers: { all: unknown; production?: unknown }, allowed: unknown = [], ...options: string[]) {
    const bin = join(folder, 'bin');
    mkdirSync(bin, { recursive: true });
    const file = (name: string, content: unknown) => {
      writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
      return join(folder, name);
    };
    const [all, production] = [file('all', answers.all), file('production', answers.production ?? answers.all)];
    writeFileSync(
      join(bin, 'npm'),
      `#!/bin/sh\ncase "$*" in *--omit=dev*) cat '${production}';; *) cat '${all}';; esac\nexit 1\n`,
    );
    chmodSync(join(bin, 'npm'), 0o755);
    const script = join(__dirname, '..', '..', '..', 'scripts', 'dependency-audit.mjs');
    const env = { PATH: [bin, process.env['PATH']].join(delimiter) };
    const args = [script, '--allowed', file('allowed.json', allowed), ...options];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    return { status, said: stdout + stderr };
  }

  it('ends with 0 where nothing is found', () => {
    expect(run({ all: report() })).toEqual({
      status: 0,
      said: expect.stringContaining('audited: nothing of low') as string,
    });
  });

  it('ends with 1 for what is shipped, and names package, advisory and what to do', () => {
    const { status, said } = run({ all: report(shipped, carrier, mild) });
    expect([status, said]).toEqual([1, expect.stringMatching(/parser .*GHSA-aaaa-bbbb-cccc[^]*npm audit fix/)]);
  });

  it('ends with 0 for what is mild and only of development', () => {
    expect(run({ all: report(mild), production: report() }).status).toBe(0);
    expect(run({ all: report(mild), production: report() }, [], '--development', 'low').status).toBe(1);
  });

  it.each([
    ['a registry without advisories', NO_ADVISORIES, '405 Method Not Allowed'],
    ['an error of npm', { error: { code: 'ENOTFOUND', summary: 'no such host', detail: '' } }, 'no such host'],
    ['no answer', '', 'told nothing'],
  ])('says that it has not audited for %s, which is a failure only where it is required', (_what, answer, why) => {
    expect(run({ all: answer })).toEqual({ status: 0, said: expect.stringMatching(`not audited: .*${why}`) as string });
    expect(run({ all: answer }, [], '--required')).toEqual({
      status: 1,
      said: expect.stringContaining('not audited') as string,
    });
  });

  it('ends with 2 for an allow-list or a level that says nothing', () => {
    expect(run({ all: report() }, [{ package: 'x' }]).status).toBe(2);
    expect(run({ all: report() }, [], '--production', 'bad').status).toBe(2);
  });

  it('is given an allow-list that it can use', () => {
    expect(faultsOf(jest.requireActual('../../../scripts/audit/allowed.json'))).toEqual([]);
  });
});
