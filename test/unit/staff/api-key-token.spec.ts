import { newToken, readToken } from '../../../src/staff/api-key-token';

describe('the token of an API key', () => {
  it('names its key, and is known again by a hash that does not contain it', () => {
    const { id, token, hash } = newToken();
    expect(token).toMatch(/^parley_key_[0-9a-f]{12}_[0-9a-f]{72}$/);
    expect(token.startsWith(`parley_${id}_`)).toBe(true);
    expect(readToken(token)).toEqual({ id, hash });
    expect(hash).toHaveLength(32);
  });

  it('is another one each time', () => {
    const made = Array.from({ length: 1000 }, newToken);
    expect(new Set(made.map(({ id }) => id)).size).toBe(1000);
    expect(new Set(made.map(({ token }) => token.slice(24))).size).toBe(1000);
  });

  it('is told from a wrong one when a single sign is mistyped', () => {
    const { token } = newToken();
    for (let at = 'parley_key_'.length; at < token.length; at++) {
      if (token[at] === '_') continue;
      const other = token[at] === '0' ? '1' : '0';
      expect([at, readToken(token.slice(0, at) + other + token.slice(at + 1))]).toEqual([at, 'mistyped']);
    }
  });

  it.each([
    '',
    'parley_',
    'parley_key_0123456789ab_',
    `${newToken().token}0`,
    newToken().token.slice(0, -1),
    'eyJhbGciOi.J9.x',
  ])('is not "%s"', (text) => {
    expect(readToken(text)).toBeUndefined();
  });
});
