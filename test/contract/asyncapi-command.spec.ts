import { load } from 'js-yaml';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freshDatabase } from '../support/database';
import { Program } from '../support/parley-process';
import type { AsyncApi } from './asyncapi-fixtures';

const folder = mkdtempSync(join(tmpdir(), 'parley-asyncapi-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function parley(args: string[], env: NodeJS.ProcessEnv = {}) {
  const program = Program.run('cli/main.js', ['asyncapi', ...args], env);
  return { code: await program.finished(), output: program.output };
}

describe('parley asyncapi', () => {
  it('needs no environment when a format is named', async () => {
    const out = join(folder, 'a', 'new');
    const { code, output } = await parley(['acme', '--format', 'protobuf', '--out', out, '--json']);
    expect(code).toBe(0);
    const names = ['acme.parley.html', 'acme.parley.yaml', 'acme.partner.html', 'acme.partner.yaml'];
    expect(readdirSync(out).toSorted()).toEqual(names);
    const { partner, files } = JSON.parse(output) as { partner: string; files: string[] };
    expect({ partner, files: files.toSorted() }).toEqual({
      partner: 'acme',
      files: names.map((name) => join(out, name)),
    });
  });

  it("tells a stored partner's channels, and nothing of our own addresses and secrets", async () => {
    const url = new URL(await freshDatabase());
    const client = new Client({ connectionString: url.href });
    await client.connect();
    await client.query(`INSERT INTO partner (id, name, created_at) VALUES ('globex', 'Globex', now())`);
    await client.query(
      `INSERT INTO channel (partner, topic, direction, format, partitions, max_message_bytes, allow_missing_id, created_at)
       VALUES ('globex', 'orders.globex.request.v1', 'out', 'json-schema', 12, 2000000, false, now()),
              ('globex', 'orders.globex.response.v1', 'in', 'json-schema', 3, 1000000, true, now())`,
    );
    await client.end();
    const out = join(folder, 'stored');
    const { code, output } = await parley(
      ['globex', '--out', out, '--bootstrap', 'kafka.example.com:9094', '--registry', 'https://registry.example.com'],
      {
        DATABASE_URL: url.href,
        KAFKA_BROKERS: 'inner-broker:9092',
        KAFKA_SASL_MECHANISM: 'scram-sha-512',
        KAFKA_SASL_USERNAME: 'inner-account',
        KAFKA_SASL_PASSWORD: 'hunter2',
        KAFKA_CONSUMER_GROUP: 'inner-group',
      },
    );
    expect({ code, output }).toMatchObject({ code: 0 });
    const texts = readdirSync(out).map((name) => readFileSync(join(out, name), 'utf8'));
    expect(texts).toHaveLength(4);
    for (const text of texts) {
      expect(text).toContain('kafka.example.com:9094');
      expect(text).not.toMatch(new RegExp(`inner-|hunter2|-dlt|:${url.port}|${url.pathname.slice(1)}`));
    }
    const { channels, components } = load(readFileSync(join(out, 'globex.partner.yaml'), 'utf8')) as AsyncApi;
    expect(channels['ordersRequestV1']?.['bindings']).toMatchObject({
      kafka: { partitions: 12, topicConfiguration: { 'max.message.bytes': 2_000_000 } },
    });
    expect(components.messages['orderRequestV1']?.payload.schemaFormat).toBe(
      'application/schema+json;version=draft-07',
    );
    expect(components.messages['orderResponseV1']?.headers.required).not.toContain('ce_id');
  });

  it('ends with 1 and says what to do where the partner has no channel', async () => {
    const { code, output } = await parley(['nobody', '--out', folder], {
      DATABASE_URL: await freshDatabase(),
      KAFKA_BROKERS: '127.0.0.1:1',
    });
    expect(code).toBe(1);
    expect(output).toContain('parley partner add nobody');
  });

  it.each([
    ['no partner id', ['Acme.EU', '--format', 'avro', '--out', folder]],
    ['an unknown format', ['acme', '--format', 'xml', '--out', folder]],
    ['no folder', ['acme', '--format', 'avro']],
    [
      'an address with credentials',
      ['acme', '--format', 'avro', '--out', folder, '--registry', 'https://a:b@c.example'],
    ],
  ])('ends with 2 for %s', async (_, args) => {
    expect((await parley(args)).code).toBe(2);
  });
});
