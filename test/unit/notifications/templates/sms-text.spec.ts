import { measure, smsText } from '../../../../src/notifications/templates/sms-text';

describe('the text of an SMS', () => {
  it.each([
    ['a'.repeat(160), { alphabet: 'gsm', length: 160, parts: 1 }],
    ['a'.repeat(161), { alphabet: 'gsm', length: 161, parts: 2 }],
    ['€'.repeat(80), { alphabet: 'gsm', length: 160, parts: 1 }],
    ['Grüße à Ørsted', { alphabet: 'gsm', length: 14, parts: 1 }],
    ['ł'.repeat(70), { alphabet: 'ucs2', length: 70, parts: 1 }],
    ['😀'.repeat(36), { alphabet: 'ucs2', length: 72, parts: 2 }],
  ])('is measured as it travels', (text, expected) => {
    expect(measure(text)).toEqual(expected);
  });

  it.each([
    ['the alphabet of GSM', 'a', 459],
    ['characters that take two places', '€', 459],
    ['other alphabets', 'ж', 201],
    ['pairs of surrogates', '😀', 201],
  ])('is cut to three parts, also with %s', (_, character, most) => {
    const text = smsText(character.repeat(1000));
    const { length, parts } = measure(text);
    expect(text).toMatch(/[^.]\.\.\.$/);
    expect(parts).toBe(3);
    expect(length).toBeLessThanOrEqual(most);
    expect(length).toBeGreaterThan(most - 3);
    expect(text.isWellFormed()).toBe(true);
  });

  it('keeps what fits, without blank lines and blanks at its ends', () => {
    expect(smsText('  a\t b \r\n\n  c  ')).toBe('a b\nc');
    expect(smsText('a'.repeat(459))).toBe('a'.repeat(459));
  });
});
