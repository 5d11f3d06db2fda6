/** A decimal as it travels: a string, never a float. At most 18 digits before and 6 after the point, no sign, no exponent. */
export const DECIMAL_PATTERN = '^(0|[1-9]\\d{0,17})(\\.\\d{1,6})?$';
/** The same, greater than zero. */
export const POSITIVE_DECIMAL_PATTERN = '^(?!0(\\.0+)?$)(0|[1-9]\\d{0,17})(\\.\\d{1,6})?$';
/** A whole number, not negative, as text: fits int64 and is exact where a JavaScript number is not. */
export const INTEGER_PATTERN = '^(0|[1-9]\\d{0,17})$';
/** ISO 4217 alphabetic code. */
export const CURRENCY_PATTERN = '^[A-Z]{3}$';
/** Order numbers: also the record key and part of URLs, where "." and ".." are steps of a path (RFC 3986, 5.2.4). */
export const ORDER_NUMBER_PATTERN = '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$';
/** Codes of a list that may grow: a reader that doesn't know one says so, and nothing is undecodable for it. */
export const CODE_PATTERN = '^[A-Z0-9]{1,8}$';
/** RFC 3339, 5.6: a day and a time with its zone. That the day exists is not looked at. */
export const TIME_PATTERN = '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})$';
/** Ids that other systems give: also record keys, and shown to people. */
export const NOTIFICATION_ID_PATTERN = '^[!-~]{1,128}$';
/** Names of members, as a request lists them. */
export const MEMBER_NAME_PATTERN = '^[a-z][A-Za-z0-9]{0,63}$';
/** What a text of each pattern is, for who has to write one: the expression itself tells staff and partners nothing. */
export const PATTERN_WORDS: Readonly<Record<string, string>> = {
  [DECIMAL_PATTERN]: 'a decimal, not negative, at most 18 digits before and 6 after the point',
  [POSITIVE_DECIMAL_PATTERN]: 'a decimal greater than 0, at most 18 digits before and 6 after the point',
  [INTEGER_PATTERN]:
    'a whole number, not negative, at most 18 digits; a 64-bit integer in Avro and Protobuf, text in JSON',
  [CURRENCY_PATTERN]: '3 capital letters',
  [ORDER_NUMBER_PATTERN]: '1 to 64 of letters, digits, `.`, `_` and `-`, but not `.` or `..`',
  [TIME_PATTERN]: 'an RFC 3339 time with its zone',
  [NOTIFICATION_ID_PATTERN]: '1 to 128 visible ASCII characters',
  [MEMBER_NAME_PATTERN]: 'a lower-case letter, then up to 63 letters or digits',
  [CODE_PATTERN]: '1 to 8 capital letters or digits; the list of codes may grow',
};
/** Most lines of one document. */
export const MAX_LINES = 1000;
