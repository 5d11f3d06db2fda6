import { type AddressInfo, createServer, type Socket } from 'node:net';
import { eventually } from '../../support/eventually';
import { kill, ownKafka, ownWire, refuse } from '../../support/faults';
import { joinWithForeignProtocol } from '../../support/foreign-member';
import { produce, uniqueName } from '../../support/kafka';
import { closeAll, committed, createTopic, Listener, recordingLogger, settingsFor, startSource } from './fixtures';

afterEach(() => closeAll());

describe('a batch source whose client dies', () => {
  it('waits for a broker that is not there at start, says so once, and reads when it comes', async () => {
    const topic = await createTopic('late');
    await produce(topic, [{ value: 'a' }]);
    const [host, port] = (settingsFor().kafkaBrokers[0] ?? '').split(':');
    const wire = await ownWire({ host: host ?? '', port: Number(port) });
    const letIn = refuse(wire);
    const { logger, lines } = recordingLogger('debug');
    const { source, listener } = startSource({ topics: [topic], brokers: wire.address, logger });
    const attempts = () => lines.filter(({ msg }) => msg === 'not reading: the consumer is built anew');
    await eventually(() => attempts().length >= 3);
    expect(source).toMatchObject({ state: 'starting', everJoined: false });
    expect(source.trouble).toBeTruthy();
    for (const [index, line] of attempts().entries()) {
      expect(line).toMatchObject({
        level: index === 0 ? 40 : 20,
        code: 'broker-unreachable',
        attempt: index + 1,
        group: expect.any(String) as string,
      });
    }
    await letIn();
    await eventually(() => listener.values.includes('a'));
    await eventually(() => source.state === 'joined' && source.trouble === undefined);
    expect(source.everJoined).toBe(true);
  });

  it('is built anew after the broker was killed and came back, and loses nothing', async () => {
    const kafka = await ownKafka();
    const topic = await createTopic('killed', { brokers: kafka.brokers, partitions: 3 });
    const { logger, lines } = recordingLogger();
    const fatal: Error[] = [];
    const { source, listener, group } = startSource({
      topics: [topic],
      brokers: kafka.brokers,
      logger,
      onFatal: (error) => fatal.push(error),
    });
    await eventually(() => source.state === 'joined');
    for (let partition = 0; partition < 3; partition++) {
      await produce(topic, [{ partition, value: `before ${partition}` }], kafka.brokers);
    }
    await eventually(() => listener.seen.length === 3);
    const restart = await kill(kafka);
    await eventually(() => source.state === 'rebuilding');
    expect(source.trouble).toBeTruthy();
    await restart();
    for (let partition = 0; partition < 3; partition++) {
      await produce(topic, [{ partition, value: `after ${partition}` }], kafka.brokers);
    }
    await eventually(() => new Set(listener.values).size === 6, { timeout: 60_000 });
    await eventually(() => source.state === 'joined' && source.trouble === undefined);
    await eventually(async () => (await committed(group, topic, 1, kafka.brokers)) === 2n);
    expect(lines.some(({ msg }) => msg === 'not reading: the consumer is built anew')).toBe(true);
    // The broker's absence is nobody's fault here: no reason to end the process.
    expect(fatal).toEqual([]);
  }, 150_000);

  it('again and again for a reason of its own asks for the end of the process', async () => {
    const topic = await createTopic('fatal');
    const group = uniqueName('inconsistent');
    const stranger = await joinWithForeignProtocol(group, topic);
    try {
      const fatal: Error[] = [];
      const { logger, lines } = recordingLogger();
      const { source } = startSource({ topics: [topic], group, logger, onFatal: (error) => fatal.push(error) });
      await eventually(() => fatal.length > 0);
      expect(fatal[0]).toMatchObject({ code: 'consumer-crashing' });
      expect(lines.filter(({ level }) => level === 40).length).toBe(5);
      expect(source.everJoined).toBe(false);
      await source.close();
    } finally {
      await stranger.close();
    }
  });

  it('without dying, by falling silent, is replaced too', async () => {
    const topic = await createTopic('silent');
    const listener = new Listener();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let hung = false;
    listener.handle = async (batch) => {
      if (hung) return listener.take(batch);
      hung = true;
      await held;
    };
    const { logger, lines } = recordingLogger();
    const timing = { deadAfter: 1_500, sessionTimeout: 6_000, rebalanceTimeout: 2_000 };
    const { source } = startSource({ topics: [topic], logger, timing }, listener);
    await produce(topic, [{ value: 'a' }]);
    await eventually(() => lines.find(({ code }) => code === 'consumer-silent'));
    await eventually(() => listener.values.includes('a'));
    // A busy machine's next one may fall silent, too.
    await eventually(() => source.state === 'joined');
    release();
  });

  it('and meets a broker that takes connections and says nothing closes without waiting for its answer', async () => {
    const asked = Promise.withResolvers<void>();
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      socket.once('data', () => asked.resolve());
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    try {
      const { source } = startSource({
        topics: ['any'],
        brokers: `127.0.0.1:${(silent.address() as AddressInfo).port}`,
      });
      await asked.promise;
      const began = performance.now();
      await source.close();
      expect(performance.now() - began).toBeLessThan(5000);
      expect(source.state).toBe('closed');
    } finally {
      sockets.forEach((socket) => socket.destroy());
      silent.close();
    }
  });
});
