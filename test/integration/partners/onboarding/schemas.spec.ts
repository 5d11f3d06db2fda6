import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { specOf, viewOf } from '../../../../src/partners';
import type { Config } from '../../../../src/platform/config';
import { Database } from '../../../../src/platform/database';
import { testConfig } from '../../../support/config';
import { freshDatabase } from '../../../support/database';
import { uniqueName } from '../../../support/kafka';
import { onboard, onboarding } from '../../../support/partners';
import { testRegistry } from '../../../support/registry';

let database: Database;
let config: Config;
let registry: string;

beforeAll(async () => {
  const url = await freshDatabase();
  registry = await testRegistry();
  database = new Database(await new DataSource({ type: 'postgres', url, installExtensions: false }).initialize());
  config = testConfig(url, { SCHEMA_REGISTRY_URLS: registry });
});
afterAll(() => database.dataSource.destroy());

const subjects = async (partner: string): Promise<string[]> =>
  ((await (await fetch(`${registry}/subjects`)).json()) as string[]).filter((name) => name.includes(`.${partner}.`));

describe('onboarding where documents have a registry', () => {
  it("publishes the schemas of the partner's documents, once, and only its own", async () => {
    const file = { partner: uniqueName('acme'), format: 'avro', partitions: 1 } as const;
    const plan = viewOf(await onboarding(database, config, (onboarder) => onboarder.plan(specOf(file, config))));
    const planned = plan.changes.filter(({ kind }) => kind === 'subject').map(({ name }) => name);
    expect(planned).toContain(`orders.${file.partner}.request.v1-parley.v1.OrderRequest`);
    expect(await subjects(file.partner)).toEqual([]);
    await onboard(database, config, file);
    expect((await subjects(file.partner)).toSorted()).toEqual(planned.toSorted());
    expect((await onboard(database, config, file)).plan.changes).toEqual([]);
  });

  it('needs none for a partner of plain JSON', async () => {
    const file = { partner: uniqueName('acme'), format: 'json', partitions: 1 } as const;
    await onboard(database, config, file);
    expect(await subjects(file.partner)).toEqual([]);
  });

  it('says what is missing where no registry is configured, and does the rest', async () => {
    const file = { partner: uniqueName('acme'), format: 'avro', partitions: 1 } as const;
    const { plan } = await onboard(database, { ...config, schemaRegistryUrls: [] }, file);
    expect(plan.notes).toEqual([
      expect.objectContaining({ kind: 'subject', why: expect.stringContaining('SCHEMA_REGISTRY_URLS') as string }),
    ]);
    const [count] = await database.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM channel WHERE partner = :partner',
      {
        partner: file.partner,
      },
    );
    expect(count?.n).toBe(5);
  });
});
