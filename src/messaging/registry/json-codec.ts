import type { AnyContract } from '../../contracts';
import type { Codec, Decoded, Encapsulated, Encoded, Route } from './codec';
import { checkWritten, rulesOf } from './document-rules';
import { parseJson } from './json-text';
import { Malformed } from './malformed';

/** Plain JSON, checked against the contract's schema in both directions. Unknown members are kept and ignored. */
export class JsonCodec implements Codec {
  ready(): Promise<void> {
    return Promise.resolve();
  }

  async encode(contract: AnyContract, _route: Route, value: unknown): Promise<Encoded> {
    checkWritten(contract, value);
    return { payload: Buffer.from(JSON.stringify(value)), contentType: 'application/json' };
  }

  async decode(contract: AnyContract, _route: Route, { value: payload }: Encapsulated): Promise<Decoded> {
    let value: unknown;
    try {
      value = parseJson(payload, 0);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      return { ok: false, error: { code: 'undecodable', detail: `not JSON: ${error.message}` } };
    }
    const violation = rulesOf(contract)(value);
    return violation ? { ok: false, error: { code: 'invalid', ...violation }, broken: value } : { ok: true, value };
  }
}
