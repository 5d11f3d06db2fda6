import { type ArgumentMetadata, Injectable, type PipeTransform, ValidationPipe } from '@nestjs/common';
import { NonRetriableError } from '../errors';
import { step, violationsOf } from './pointer';

export interface ValidationOptions {
  /** Most items of an array anywhere in a body. */
  maxItems: number;
}

/** No document of ours is deeper; class-transformer and class-validator recurse. */
const MAX_DEPTH = 8;

/**
 * Checks bodies and queries against their DTO class: members that the class doesn't name are refused. Size and depth are
 * looked at first, since checking 10,000 lines one by one would hold up everybody else.
 * Throws NonRetriableError `request-invalid` with one violation a broken rule.
 */
@Injectable()
export class DtoPipe implements PipeTransform {
  private readonly body = validator((errors) => violationsOf(errors, ''));
  private readonly other = validator((errors) => violationsOf(errors, '', (_, name) => String(name)));

  constructor(private readonly options: ValidationOptions) {}

  async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'custom') return value;
    // A message handler's batch comes through here too (inheritAppConfig); its documents were checked by their contract.
    if (metadata.type === 'body' && metadata.metatype === Object) return value;
    if (metadata.type !== 'body') return (await this.other.transform(value, metadata)) as unknown;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalid([{ pointer: '', detail: 'must be a JSON object' }]);
    const tooMuch = this.excess(value, '', 0);
    if (tooMuch) throw invalid([tooMuch]);
    return (await this.body.transform(value, metadata)) as unknown;
  }

  private excess(value: unknown, pointer: string, depth: number): { pointer: string; detail: string } | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    if (depth >= MAX_DEPTH) return { pointer, detail: `must not be nested deeper than ${MAX_DEPTH} levels` };
    if (Array.isArray(value) && value.length > this.options.maxItems) {
      return { pointer, detail: `must have at most ${this.options.maxItems} items; it has ${value.length}` };
    }
    for (const [name, member] of Object.entries(value)) {
      const found = this.excess(member, step(pointer, name), depth + 1);
      if (found) return found;
    }
    return undefined;
  }
}

const invalid = (violations: readonly { pointer: string; detail: string }[]): NonRetriableError => {
  const [first] = violations;
  const more = violations.length > 1 ? ` and ${violations.length - 1} more` : '';
  return new NonRetriableError(
    'request-invalid',
    `${first?.pointer || 'The body'} ${first?.detail ?? 'is invalid'}${more}.`,
    { violations },
  );
};

const validator = (
  violations: (errors: Parameters<typeof violationsOf>[0]) => ReturnType<typeof violationsOf>,
): ValidationPipe =>
  new ValidationPipe({
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    transform: true,
    exceptionFactory: (errors) => invalid(violations(errors)),
  });
