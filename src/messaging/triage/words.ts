export { nullableText, nullableTime, REASON, REASON_RULE, TIME_EXAMPLE, timeOf } from '../../platform/http';

/** Text of one line that a table and a log can carry. */
export const WORD = /^[^\p{Cc}\p{Cs}]{1,255}$/u;
export const WORD_RULE = { message: 'must be text of 1 to 255 printable characters' };

export const ID = /^[1-9]\d{0,17}$/;
