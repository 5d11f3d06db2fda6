import type { Letter, Provider } from '../../../src/notifications/channels/provider';
import { eventually } from '../../support/eventually';

/** What becomes of the requests from now on. All but `accept` do nothing that a receiver sees; `break` and `hang` may have. */
export type Disturbance =
  | 'accept'
  /** For good. */
  | 'refuse'
  /** For good, since nobody is there; the refusal quotes the address. */
  | 'refuse-address'
  /** For now; where the protocol has it, for two minutes. The refusal quotes the address. */
  | 'throttle'
  /** The connection ends when the whole request was read. */
  | 'break'
  /** The whole request is read, and never answered. */
  | 'hang';

/** A provider, and its other side in the hands of a test. */
export interface ProviderStage {
  readonly provider: Provider;
  letter(rest?: Partial<Letter>): Letter;
  disturb(what: Disturbance): void;
  /** How often the whole request of a notification was read. */
  reached(id: string): number;
  /** How often it had its effect, as its receiver sees it. */
  effects(id: string): number;
  /** The same provider, where nobody listens. */
  unreachable(): Provider;
  /** The same provider, at a server that takes the connection and says nothing, so that nothing can be written to it. */
  silent(): Provider;
  /** Connections that the silent server has taken. */
  knocks(): number;
  /** For the look-up: `unavailable` until it is called again. */
  setLog?(state: 'available' | 'unavailable'): void;
  close(): Promise<void>;
}

export interface ProviderFeatures {
  /** It does nothing a second time under one id. */
  remembers: boolean;
  lookUp: boolean;
  /** Its protocol can say for how long. */
  retryAfter: boolean;
  /** It can refuse for good; otherwise each refusal may be mended tomorrow. */
  refuses: boolean;
  /** Addresses that are none, in the words of the channel; empty: it finds the address by itself. */
  badAddresses: readonly string[];
}

const LONG_MS = 45_000;
const soon = () => AbortSignal.timeout(LONG_MS);

/** What every provider keeps, whatever it sends through. */
export function describeProvider(name: string, features: ProviderFeatures, open: () => Promise<ProviderStage>): void {
  describe(`provider ${name}`, () => {
    let stage: ProviderStage;
    const others: Provider[] = [];
    const other = (provider: Provider) => {
      others.push(provider);
      return provider;
    };
    beforeAll(async () => {
      stage = await open();
    });
    beforeEach(() => {
      stage.disturb('accept');
      stage.setLog?.('available');
    });
    afterAll(async () => {
      await Promise.all([stage.provider, ...others].map((one) => one.close()));
      await stage.close();
    });
    const send = (letter: Letter) => stage.provider.send(letter, soon());

    it('says what it promises', () => {
      expect(stage.provider.remembersMs > 0).toBe(features.remembers);
      expect(stage.provider.lookUp !== undefined).toBe(features.lookUp);
      expect(stage.provider.timeoutMs).toBeGreaterThan(0);
      expect(stage.provider.perSecond).toBeGreaterThan(0);
    });

    it('sends once what is accepted', async () => {
      const letter = stage.letter();
      expect(await send(letter)).toMatchObject({ kind: 'accepted' });
      expect([stage.reached(letter.id), stage.effects(letter.id)]).toEqual([1, 1]);
    });

    it('sends many at once', async () => {
      const letters = Array.from({ length: 20 }, () => stage.letter());
      const outcomes = await Promise.all(letters.map(send));
      expect(outcomes.map(({ kind }) => kind)).toEqual(letters.map(() => 'accepted'));
      expect(letters.map(({ id }) => stage.effects(id))).toEqual(letters.map(() => 1));
    });

    it('knows what is refused for good, and does not blame the address', async () => {
      stage.disturb('refuse');
      const outcome = await send(stage.letter());
      const kind = features.refuses ? 'refused' : 'later';
      expect(outcome).toMatchObject({ kind, code: expect.stringMatching(/^[a-z0-9-]+$/) as string });
      expect(outcome).not.toMatchObject({ badAddress: true });
    });

    it('knows what is refused for now', async () => {
      stage.disturb('throttle');
      const letter = stage.letter();
      const outcome = await send(letter);
      expect(outcome).toMatchObject({ kind: 'later', ...(features.retryAfter ? { retryAfterMs: 120_000 } : {}) });
      // A webhook's receiver sees what it refuses.
      if (features.refuses) expect(stage.effects(letter.id)).toBe(0);
    });

    it('does not know what became of a request whose connection broke', async () => {
      stage.disturb('break');
      const letter = stage.letter();
      expect(await send(letter)).toMatchObject({ kind: 'unknown' });
      expect(stage.reached(letter.id)).toBe(1);
    });

    it('does not know what became of a request that is not answered in its time', async () => {
      stage.disturb('hang');
      const letter = stage.letter();
      const lease = new AbortController();
      const outcome = stage.provider.send(letter, lease.signal);
      await eventually(() => stage.reached(letter.id) === 1);
      lease.abort();
      expect(await outcome).toMatchObject({ kind: 'unknown' });
    });

    it('knows that nothing was sent where nobody listens, and that this is no fault of the notification', async () => {
      const outcome = await other(stage.unreachable()).send(stage.letter(), soon());
      expect(outcome).toMatchObject({ kind: 'later', fault: true });
    });

    it('writes nothing once the lease is about to end', async () => {
      const letter = stage.letter();
      expect(await stage.provider.send(letter, AbortSignal.abort())).toMatchObject({ kind: 'later' });
      const [lease, knocks] = [new AbortController(), stage.knocks()];
      const outcome = other(stage.silent()).send(letter, lease.signal);
      await eventually(() => stage.knocks() > knocks);
      lease.abort();
      expect(await outcome).toMatchObject({ kind: 'later' });
      expect(stage.reached(letter.id)).toBe(0);
    });

    it('resolves whatever it is given, and sends nothing to what is no address', async () => {
      for (const address of features.badAddresses) {
        const letter = stage.letter({ address });
        expect(await send(letter)).toMatchObject({ kind: 'refused' });
        expect(stage.reached(letter.id)).toBe(0);
      }
      const mismatch = stage.letter({ content: stage.provider.channel === 'sms' ? EMAIL : SMS });
      expect(await send(mismatch)).toMatchObject({ kind: 'refused' });
    });

    it('says nothing of the address, whoever quotes it', async () => {
      for (const what of ['refuse-address', 'throttle', 'refuse', 'break'] as const) {
        stage.disturb(what);
        const letter = stage.letter();
        const said = JSON.stringify(await send(letter)).toLowerCase();
        for (const part of [letter.address, letter.address.slice(1), letter.address.split('@')[0] ?? ''])
          expect(said).not.toContain(part.toLowerCase());
      }
    });

    if (features.badAddresses.length > 0)
      it('knows an address where nobody is', async () => {
        stage.disturb('refuse-address');
        expect(await send(stage.letter())).toMatchObject({ kind: 'refused', badAddress: true });
      });

    if (features.remembers)
      it('does nothing a second time under one id', async () => {
        const letter = stage.letter();
        expect(await send(letter)).toMatchObject({ kind: 'accepted' });
        expect(await send(letter)).toMatchObject({ kind: 'accepted' });
        expect([stage.reached(letter.id), stage.effects(letter.id)]).toEqual([2, 1]);
      });

    if (features.lookUp) describeLookUp(() => stage);

    // The last one: it closes the provider of all of them.
    it('ends what waits for an answer when it is closed, and sends nothing after', async () => {
      stage.disturb('hang');
      const letter = stage.letter();
      const outcome = send(letter);
      await eventually(() => stage.reached(letter.id) === 1);
      await stage.provider.close();
      expect(await outcome).toMatchObject({ kind: 'unknown' });
      stage.disturb('accept');
      const late = stage.letter();
      expect(await send(late)).toMatchObject({ kind: 'later' });
      expect(stage.reached(late.id)).toBe(0);
    });
  });
}

const EMAIL = { channel: 'email', subject: 's', text: 't', html: 'h' } as const;
const SMS = { channel: 'sms', text: 't' } as const;

function describeLookUp(stage: () => ProviderStage): void {
  const lookUp = (letter: Letter) => stage().provider.lookUp?.(letter, soon());

  it('finds what was sent, also where the answer to it was lost', async () => {
    const [letter, broken] = [stage().letter(), stage().letter()];
    await stage().provider.send(letter, soon());
    stage().disturb('break');
    await stage().provider.send(broken, soon());
    expect(await lookUp(letter)).toMatchObject({ kind: 'found' });
    expect(await lookUp(broken)).toMatchObject({ kind: stage().effects(broken.id) > 0 ? 'found' : 'not-found' });
  });

  it('finds nothing of what never came', async () => {
    expect(await lookUp(stage().letter())).toEqual({ kind: 'not-found' });
  });

  it('does not take a log that is not to be had for an empty one', async () => {
    stage().setLog?.('unavailable');
    expect(await lookUp(stage().letter())).toMatchObject({ kind: 'unavailable' });
    expect(await stage().provider.lookUp?.(stage().letter(), AbortSignal.abort())).toMatchObject({
      kind: 'unavailable',
    });
  });
}
