import { applyDecorators } from '@nestjs/common';
import { IsISO8601, Matches, ValidateBy } from 'class-validator';

const FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Leap seconds and zones beyond a day pass for RFC 3339, and are no time that a Date can hold. */
const isInstant = (value: unknown): boolean => typeof value === 'string' && !Number.isNaN(Date.parse(value));

/** A member of a DTO that is a time of RFC 3339 with its zone, as text; `new Date` takes it. */
export const IsInstant = (): PropertyDecorator =>
  applyDecorators(
    Matches(FORM, { message: 'must be an RFC 3339 time with its zone' }),
    IsISO8601({ strict: true }, { message: 'must be a time that exists' }),
    ValidateBy({
      name: 'isInstant',
      validator: { validate: isInstant, defaultMessage: () => 'must be a time that exists' },
    }),
  );
