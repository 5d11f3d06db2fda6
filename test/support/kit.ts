import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { channelsInFormat } from '../../src/asyncapi';
import { CONTRACTS, type Format } from '../../src/contracts';
import { type KitInput, kitOf } from '../../src/kit';

export const ROOT = join(__dirname, '..', '..');

/** A kit as `parley partner kit` makes it, of the programs that were last built. */
export function kitFor(partner: string, format: Format, more: Partial<KitInput> = {}): Promise<Map<string, Buffer>> {
  return kitOf({
    ...{ partner, name: 'Acme Ltd', account: `${partner}.1`, installation: ROOT },
    channels: channelsInFormat(CONTRACTS, partner, format),
    ...more,
  });
}

/** Lays the files out as unzipping does. */
export function unpack(files: ReadonlyMap<string, Buffer>, folder: string): void {
  for (const [name, content] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}
