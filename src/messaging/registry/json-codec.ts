import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import type { AnyContract } from '../../contracts';
import { NonRetriableError } from '../../platform/errors';
import type { Codec, Decoded, Encapsulated, Encoded, Route } from './codec';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Plain JSON, checked against the contract's schema in both directions. Unknown members are kept and ignored. */
export class JsonCodec implements Codec {
  private readonly ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: false });
  private readonly validators = new WeakMap<object, ValidateFunction>();

  ready(): Promise<void> {
    return Promise.resolve();
  }

  encode(contract: AnyContract, _route: Route, value: unknown): Promise<Encoded> {
    const violation = this.violation(contract, value);
    if (violation) {
      throw new NonRetriableError(
        'document-invalid',
        `The ${contract.name} breaks its schema: ${violation.pointer} ${violation.detail}.`,
        { violations: [violation] },
      );
    }
    return Promise.resolve({ payload: Buffer.from(JSON.stringify(value)), contentType: 'application/json' });
  }

  decode(contract: AnyContract, _route: Route, { value: payload }: Encapsulated): Promise<Decoded> {
    let value: unknown;
    try {
      value = JSON.parse(decoder.decode(payload));
    } catch (error) {
      return Promise.resolve({
        ok: false,
        error: { code: 'undecodable', detail: `not JSON: ${(error as Error).message}`.slice(0, 300) },
      });
    }
    const violation = this.violation(contract, value);
    return Promise.resolve(violation ? { ok: false, error: { code: 'invalid', ...violation } } : { ok: true, value });
  }

  private violation(contract: AnyContract, value: unknown): { pointer: string; detail: string } | undefined {
    let validate = this.validators.get(contract);
    if (!validate) this.validators.set(contract, (validate = this.ajv.compile(contract.jsonSchema)));
    if (validate(value)) return undefined;
    const [error] = validate.errors ?? [];
    const missing = error?.keyword === 'required' ? `/${String(error.params['missingProperty'])}` : '';
    return {
      pointer: `${error?.instancePath ?? ''}${missing}` || '/',
      detail: (error?.message ?? 'is invalid').slice(0, 300),
    };
  }
}
