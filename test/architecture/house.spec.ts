import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const files = (pattern: string) =>
  globSync(pattern, { cwd: ROOT, exclude: (path) => path.includes('node_modules') || path.includes('dist') });
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

describe('the house', () => {
  it('has no file over 300 lines', () => {
    const long = ['{src,test,migrations}/**/*.{ts,mjs}', '{scripts,bench}/**/*.mjs']
      .flatMap(files)
      .filter((file) => read(file).split('\n').length > 301);
    expect(long).toEqual([]);
  });

  it('has no "any" that hides from the compiler', () => {
    const found = files('{src,test,migrations}/**/*.ts').filter((file) =>
      /\bas any\b|@ts-(ignore|nocheck)/.test(read(file)),
    );
    expect(found.filter((file) => !file.endsWith('house.spec.ts'))).toEqual([]);
  });

  it('has doors with named exports only', () => {
    const doors = files('src/**/index.ts').filter((file) => /export default|export \* from/.test(read(file)));
    // Its constants are patterns with names of their own.
    expect(doors.filter((file) => file !== join('src', 'contracts', 'index.ts'))).toEqual([]);
  });

  it('has no test that is skipped or focused', () => {
    const found = files('test/**/*.spec.ts').filter((file) =>
      /\b(it|describe|test)\.(skip|only|todo)\b|\bxit\(|\bfit\(/.test(read(file)),
    );
    expect(found).toEqual([]);
  });
});
