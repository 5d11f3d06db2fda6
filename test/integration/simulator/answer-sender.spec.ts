import { type SingleKafka, startKafka } from '../../../scripts/servers/index.mjs';
import { AnswerSender, type Outgoing } from '../../../src/simulator/answer-sender';
import { eventually } from '../../support/eventually';
import { createTopic, readAll } from '../../support/kafka';

// A broker of its own: it is killed.
let kafka: SingleKafka;
beforeAll(async () => {
  kafka = await startKafka();
  await createTopic('answers', { exact: true, partitions: 1, brokers: kafka.brokers });
});
afterAll(() => kafka.stop());

function sender() {
  const told: string[] = [];
  const tell = (what: string) => (items: readonly Outgoing[]) =>
    items.forEach(({ message: { id } }) => told.push(`${what} ${id}`));
  const connection = { clientId: 'test', bootstrapBrokers: [kafka.brokers], timeout: 10_000, connectTimeout: 10_000 };
  const events = { onSending: tell('sending'), onWritten: tell('written'), onWithdrawn: tell('withdrawn') };
  return { told, sender: new AnswerSender(connection, events, () => told.push('failed')) };
}

const outgoing = (id: string, isDue: () => boolean, afterMs = 0): Outgoing => ({
  message: { topic: 'answers', afterMs, code: 'AP', id, key: 'A-1', headers: { ce_id: id }, value: Buffer.from(id) },
  ...{ partner: 'acme', order: 'A-1', requestId: 'r-1', isDue, done: () => undefined },
});

describe('a message on its way', () => {
  it('is asked whether it is due when its time has come', async () => {
    const { told, sender: answers } = sender();
    answers.add([outgoing('early', () => true), outgoing('late', () => !told.includes('written early'), 300)]);
    await eventually(() => told.includes('withdrawn late'));
    await answers.close();
    expect(told).toEqual(['sending early', 'written early', 'withdrawn late']);
  });

  it('is written in the end once it was tried, since nobody knows whether it was', async () => {
    const { told, sender: answers } = sender();
    let due = true;
    await kafka.kill();
    answers.add([outgoing('tried', () => due)]);
    await eventually(() => told.includes('failed'));
    due = false;
    await kafka.restart();
    await eventually(() => told.includes('written tried'));
    await answers.close();
    expect(told).not.toContain('withdrawn tried');
    const written = (await readAll('answers', kafka.brokers)).map(({ value }) => String(value));
    expect(written).toContain('tried');
  });
});
