import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { channelsInFormat, generatePartnerDocuments } from '../../src/asyncapi';
import { CONTRACTS } from '../../src/contracts';

const FOLDER = join(__dirname, '..', '..', 'docs', 'asyncapi');
const COMMAND = 'npm run parley -- asyncapi acme --format avro --out docs/asyncapi';

/** Why the folder is not what the contracts give now; undefined when it is. */
function staleness(written: ReadonlyMap<string, string>): string | undefined {
  const files = generatePartnerDocuments({
    partner: 'acme',
    contracts: CONTRACTS,
    channels: channelsInFormat(CONTRACTS, 'acme', 'avro'),
  });
  const stale = [...files].filter(([name, content]) => written.get(name) !== content).map(([name]) => name);
  return stale.length > 0 ? `${stale.join(', ')} in docs/asyncapi: stale. Run: ${COMMAND}` : undefined;
}

describe('docs/asyncapi', () => {
  const written = new Map(
    readdirSync(FOLDER)
      .filter((name) => name.startsWith('acme.'))
      .map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]),
  );

  it('shows the example partner as the contracts are now', () => {
    expect(staleness(written)).toBeUndefined();
  });

  it('is stale when one character differs, and the command that mends it is named', () => {
    const changed = new Map(written).set('acme.partner.html', `${written.get('acme.partner.html')} `);
    expect(staleness(changed)).toMatch(/^acme\.partner\.html in .* Run: npm run parley -- asyncapi acme/);
  });
});
