/** Why somebody does something. */
export const REASON = /^(?=.*\S)[^\p{Cc}\p{Cs}]{1,500}$/u;
export const REASON_RULE = { message: 'must say why, in 1 to 500 printable characters' };

export const TIME_EXAMPLE = '2026-02-03T04:05:06.789Z';

export const timeOf = (date: Date | null): string | null => date?.toISOString() ?? null;

/** How an ApiProperty says that a time may be missing. */
export const nullableTime = (description?: string) => ({
  type: String,
  nullable: true,
  format: 'date-time',
  example: TIME_EXAMPLE,
  ...(description === undefined ? {} : { description }),
});

/** How an ApiProperty says that a text may be missing. */
export const nullableText = (example: string, description?: string) => ({
  type: String,
  nullable: true,
  example,
  ...(description === undefined ? {} : { description }),
});
