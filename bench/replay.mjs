import { answer, placeOrders } from './answers.mjs';
import { cpuMeter, until } from './measure.mjs';
import { makeDatabase, makeKey, startHere } from './parley.mjs';
import { dropDatabase, settle, withClient } from './servers.mjs';

export const title = 'Replay: dead letters through a governed job, at full pace, by the real handler';
export const needs = ['reference'];

const NAME = 'replay';
const PARTITIONS = 6;
const SECONDS = 1000;
/** Rows of one statement. */
const CHUNK = 5_000;

/** Answers that came before their orders did: dead letters, each of its own key, as the consumer parks them. */
async function park(client, partners, count) {
  const channels = await client.query(
    `SELECT id, partner FROM channel WHERE topic = 'orders.' || partner || '.response.v1' AND partner = ANY($1)`,
    [partners],
  );
  const channelOf = new Map(channels.rows.map(({ id, partner }) => [partner, id]));
  for (let done = 0; done < count; done += CHUNK) {
    const rows = Array.from({ length: Math.min(CHUNK, count - done) }, (_, index) => {
      const n = done + index + 1;
      const partner = partners[n % partners.length];
      const { key, value, headers } = answer(partner, n);
      const names = Object.keys(headers);
      const base64 = (text) => Buffer.from(text).toString('base64');
      return {
        ...{
          n,
          partner,
          key,
          channel: channelOf.get(partner),
          id: headers.ce_id,
          correlation: headers.ce_correlationid,
        },
        ...{ type: headers.ce_type, value: base64(value), names: names.map(base64) },
        values: names.map((name) => base64(headers[name])),
      };
    });
    await client.query(PARK, [JSON.stringify(rows)]);
  }
  await client.query('VACUUM ANALYZE parked_inbound, parked_key, inbox');
}

const PARK = `
  WITH r AS (SELECT * FROM json_to_recordset($1::json) AS r(n int, partner text, key text, channel int, id text, correlation text, type text, value text, names json, values json)),
  taken AS (INSERT INTO inbox (channel_id, message_id, hash, partition, "offset", received_at) SELECT channel, id, '\\x00', 0, n, now() FROM r),
  keys AS (INSERT INTO parked_key (channel_id, key, since) SELECT channel, key, now() FROM r)
  INSERT INTO parked_inbound (partner, key, state, holds, channel_id, inbox_id, topic, partition, "offset", record_time, message_id, correlation_id, type, raw_key, raw_value,
    header_names, header_values, code, detail, fingerprint, failed_in, attempts, first_failed_at, counted_since, last_failed_at, parked_at, dlt_published_at)
  SELECT partner, key, 'dead', true, channel, id, 'orders.' || partner || '.response.v1', 0, n, now(), id, correlation, type, convert_to(key, 'UTF8'), decode(value, 'base64'),
    ARRAY(SELECT decode(x, 'base64') FROM json_array_elements_text(names) x), ARRAY(SELECT decode(x, 'base64') FROM json_array_elements_text(values) x),
    'exchange-unknown', 'No request has this correlation id.', 'bench', 'handler', 1, now(), now(), now(), now(), now() FROM r ORDER BY n`;

export async function run({ servers, quick, report, reference }) {
  const count = quick ? 5_000 : 100_000;
  const partners = await makeDatabase(servers, NAME, { partitions: PARTITIONS });
  const url = servers.postgres.url(NAME);
  await withClient(url, async (client) => {
    await park(client, partners, count);
    await placeOrders(client, partners, count);
  });
  const key = await makeKey(servers, NAME);
  await settle(servers);
  const parley = await startHere(servers, NAME, { ROLES: 'api,consumer' });
  const ask = async (path, body) => {
    const answered = await fetch(`${parley.apiUrl}${path}`, {
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    });
    const json = await answered.json();
    if (!answered.ok) throw new Error(`${path} answered ${answered.status}: ${JSON.stringify(json)}`);
    return json;
  };
  const processed = () =>
    withClient(url, async (client) => {
      const { rows } = await client.query(`SELECT count(*)::int AS n FROM parked_inbound WHERE state = 'processed'`);
      return rows[0].n;
    });
  try {
    let began = performance.now();
    const { id, ...plan } = await ask('/v1/replays?plan=true', { selection: {} });
    const planMs = performance.now() - began;
    const cpu = cpuMeter({ postgres: servers.postgres.pid, parley: process.pid });
    began = performance.now();
    await ask('/v1/replays', { planId: id, reason: 'the orders are there now' });
    const isDone = async () => (await ask(`/v1/replays/${id}`)).state === 'done';
    await until('the replay', isDone, { everyMs: 100, progress: processed, stalledMs: 30_000 });
    const value = (count * SECONDS) / (performance.now() - began);
    const left = count - (await processed());
    if (left > 0) throw new Error(`${left} of ${count} messages were not processed: ${JSON.stringify(plan)}`);
    const spent = cpu();
    const share = (ms) => (ms / count).toFixed(3);
    report({ name: `plan of ${count.toLocaleString('en')} dead letters`, value: planMs, unit: 'ms' });
    report({
      ...{ name: `${count.toLocaleString('en')} dead letters, from start to done`, value, unit: 'messages/s' },
      ...{ ratio: value / reference.tps, ratioTo: 'the reference' },
      note: `CPU ms a message: PostgreSQL ${share(spent.postgres)}, Parley ${share(spent.parley)}`,
    });
  } finally {
    await parley.stop();
  }
  await dropDatabase(servers, NAME);
  await settle(servers);
}
