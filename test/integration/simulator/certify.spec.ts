import { Consumer } from '@platformatic/kafka';
import { errorReport, topicFor } from '../../../src/contracts';
import { runCertification } from '../../../src/simulator/certification/certify-command';
import { type CertifyOptions, parseCertify } from '../../../src/simulator/certification/options';
import { topicsReadBy } from '../../../src/simulator/certification/readers';
import { exitCodeOf } from '../../../src/simulator/certification/suite';
import { connectionOf } from '../../../src/simulator/connection';
import { eventually } from '../../support/eventually';
import { doorOf, guardedKafka } from '../../support/guarded-kafka';
import { readAll, uniqueName } from '../../support/kafka';
import { access, certified, first, mutant, named, PATIENCE, settingsFor, when, without } from './certifying';
import { start, topicsOf } from './fixture';

describe('certification', () => {
  it('passes the partner that we play, each time it is run', async () => {
    const id = uniqueName('acme');
    await topicsOf(id);
    const { registry: _, ...reach } = access();
    start(id, reach);
    const report = await certified(settingsFor(id, { runs: 2 }));
    expect(named(report, 'failed')).toEqual([]);
    expect(new Set(named(report, 'skipped'))).toEqual(new Set(['acl', 'broker-restart']));
    expect(report).toMatchObject({ passed: true, flaky: [], partner: id });
    expect(exitCodeOf(report)).toBe(0);
  });

  it('says that a system that answers nothing does not, and tries no more', async () => {
    const { id } = await mutant({ order: () => [] });
    const patience = { ...PATIENCE, connectMs: 1_500 };
    const report = await certified(settingsFor(id, { patience }));
    expect(named(report, 'failed')).toEqual(['connect']);
    expect(named(report, 'passed')).toEqual([]);
    expect(exitCodeOf(report)).toBe(1);
    expect(report.results[0]?.next).toContain(`partner.${id}.`);
  });

  it('says what is wrong where nothing can be reached', async () => {
    const report = await certified(settingsFor('acme', { brokers: ['localhost:1'] }));
    expect(named(report, 'failed')).toEqual(['connect']);
    expect(report.results[0]?.seen[0]).toContain('nobody listens there');
  });

  it('says that what passes in one run and fails in another is flaky', async () => {
    let runs = 0;
    const onceLate = when('-REJECT-', (good) => (runs++ === 0 ? good : first(good, without('ce_id'))));
    const { id } = await mutant({ order: onceLate });
    const report = await certified(settingsFor(id, { runs: 2 }));
    expect(report).toMatchObject({ passed: false, flaky: ['reject', 'schema'] });
  });

  it("reports to the partner's error topic what it could not read", async () => {
    const { id } = await mutant({ order: when('-FIELD-', (good) => first(good, without('ce_id'))) });
    await certified(settingsFor(id));
    const { brokers, caFile, admin, parley } = guardedKafka();
    const door = doorOf({ brokers, caFile, admin, parley }, admin);
    const reports = await readAll(topicFor(errorReport, id), door);
    const [report] = reports.map(({ value }) => JSON.parse(String(value)) as Record<string, unknown>);
    expect(reports).toHaveLength(1);
    expect(report).toMatchObject({ code: 'message-id-missing', topic: `orders.${id}.response.v1` });
  });

  it('refuses while the company itself reads the answers, unless it is told to go on', async () => {
    const id = uniqueName('acme');
    const { responses } = await topicsOf(id);
    const group = uniqueName('parley');
    const { brokers } = access();
    const reader = new Consumer({ ...connectionOf(access(), 'reader'), groupId: group });
    let stream: { close: () => Promise<void> } | undefined;
    try {
      stream = await reader.consume({ topics: [responses], mode: 'latest' });
      await eventually(async () => expect(await topicsReadBy(access(), group, id)).toEqual([responses]) ?? true);
      const parsed = parseCertify([id, '--format', 'json', '--brokers', brokers.join(), '--company-group', group], {});
      const options = {
        ...parsed?.options,
        patience: { ...PATIENCE, connectMs: 300 },
      } as CertifyOptions;
      const terminal = { out: () => undefined, say: () => undefined };
      const place = { access: access(), format: 'json' as const };
      await expect(runCertification(options, place, terminal)).rejects.toThrow(`${group} reads ${responses}`);
      const beside = await runCertification({ ...options, isBeside: true }, place, terminal);
      expect(beside.exitCode).toBe(1);

      await reader.commit({ offsets: [{ topic: responses, partition: 0, offset: 0n, leaderEpoch: -1 }] });
      await stream.close();
      await reader.close(true);
      // Between two processes a group has no members, and reads on with the next.
      await expect(runCertification(options, place, terminal)).rejects.toThrow(`${group} reads ${responses}`);
    } finally {
      await stream?.close().catch(() => undefined);
      await reader.close(true).catch(() => undefined);
    }
  });

  it('refuses where it may not see whether the company reads the answers', async () => {
    // Other specs may have given the account the right to its usual group.
    const group = uniqueName('foreign');
    const parsed = parseCertify(['acme', '--format', 'json', '--brokers', 'a:1', '--company-group', group], {});
    const stranger = { mechanism: 'SCRAM-SHA-512' as const, credentials: () => guardedKafka().parley };
    const place = { access: { ...access(), account: stranger }, format: 'json' as const };
    const refused = runCertification(parsed?.options as CertifyOptions, place, {
      out: () => undefined,
      say: () => undefined,
    });
    await expect(refused).rejects.toThrow(`Whether the group ${group} reads the topics of acme is not known`);
  });
});
