import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes what was compiled from sources that are gone: the compiler leaves it, and a file that became a folder of the same name
 * would still be loaded in its place.
 */
for (const top of ['src', 'migrations']) {
  const compiled = join('dist', top);
  if (!existsSync(compiled)) continue;
  for (const file of readdirSync(compiled, { recursive: true, encoding: 'utf8' })) {
    const [, stem, module] = /^(.*)\.(m?)js$/.exec(file) ?? [];
    if (stem === undefined || existsSync(join(top, `${stem}.${module}ts`)) || existsSync(join(top, file))) continue;
    rmSync(join(compiled, file));
    rmSync(join(compiled, `${file}.map`), { force: true });
  }
}
