import 'reflect-metadata';
import { DataSource, type DataSourceOptions, EntitySchema } from 'typeorm';
import { ENTITIES } from '../../src/app.module';
import { freshDatabase } from '../support/database';

/** The statements that would make the tables what the entities say. */
async function drift(entities: NonNullable<DataSourceOptions['entities']>): Promise<string[]> {
  const dataSource = await new DataSource({
    type: 'postgres',
    url: await freshDatabase(),
    entities,
    synchronize: false,
    installExtensions: false,
  }).initialize();
  try {
    return (await dataSource.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query);
  } finally {
    await dataSource.destroy();
  }
}

describe('the entities', () => {
  it('are what the migrations made', async () => {
    expect(ENTITIES.length).toBeGreaterThan(0);
    expect(await drift(ENTITIES)).toEqual([]);
  });

  it('are found out when a column, a type or an index is not there', async () => {
    const planted = new EntitySchema({
      name: 'Planted',
      tableName: 'channel_version',
      columns: {
        only_row: { type: 'boolean', primary: true, default: true },
        version: { type: 'int' },
        forgotten: { type: 'text' },
      },
      indices: [{ name: 'planted_index', columns: ['forgotten'] }],
    });
    const statements = (await drift([planted])).join('\n');
    expect(statements).toContain('ADD "forgotten" text');
    expect(statements).toContain('ADD "version" integer');
    expect(statements).toContain('CREATE INDEX "planted_index"');
  });
});
