import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
/** Calls that change a registry, however the client is called there. */
const CHANGES = /\.\s*(?:register|setCompatibility)\s*\(|\[\s*['"](?:register|setCompatibility)['"]\s*\]/;
/** Where schemas are sent to: the path of the API. */
const API = /\/versions\b/;

const found = (pattern: RegExp): string[] =>
  globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => pattern.test(readFileSync(join(ROOT, file), 'utf8')));

describe('schemas are registered', () => {
  it('by publishing alone, from the commands that are for it: a program that registers while it runs publishes what nobody judged', () => {
    expect(found(CHANGES)).toEqual([join('src', 'messaging', 'evolution', 'publish.ts')]);
    const commands = found(/\bpublish\(registry\b/).filter((file) => !file.includes('evolution'));
    expect(commands.toSorted()).toEqual([
      join('src', 'cli', 'certify', 'later-schema.ts'),
      join('src', 'cli', 'contracts.command.ts'),
    ]);
  });

  it.each([
    'registry.register(subject, schema)',
    'this.parts.registry\n  .register (s, t)',
    "registry['register'](s, t)",
  ])('and %s elsewhere would be seen', (text) => {
    expect(CHANGES.test(text)).toBe(true);
  });

  it("through the registry's client alone", () => {
    const rooms = found(API).map((file) => file.split('/').slice(0, 3).join('/'));
    expect([...new Set(rooms)]).toEqual([join('src', 'messaging', 'registry')]);
  });
});
