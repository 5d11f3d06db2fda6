import { dump } from 'js-yaml';
import { toAsyncApi } from './asyncapi-document';
import type { Side } from './asyncapi-parts';
import { toPage } from './page';
import { describePartner, type PartnerInterfaceInput } from './partner-interface';

const SIDES: readonly Side[] = ['parley', 'partner'];

/**
 * A partner's documentation as file name → content: `<partner>.parley.yaml` (what Parley does), `<partner>.partner.yaml`
 * (its mirror, what the partner implements), each AsyncAPI 3.1.0, and a page of each that loads nothing. Nothing in them
 * depends on time, machine or order of the channels. Throws `channel-unknown` when no document has a channel, and
 * `schema-unsupported` when a contract's rule can't be told in words.
 */
export function generatePartnerDocuments(input: PartnerInterfaceInput): Map<string, string> {
  const described = describePartner(input);
  return new Map(
    SIDES.flatMap((side): [string, string][] => {
      const stem = `${input.partner}.${side}`;
      const yaml = dump(toAsyncApi(described, side), { noRefs: true, lineWidth: -1 });
      return [
        [
          `${stem}.yaml`,
          `# Made by "parley asyncapi ${input.partner}" from the contracts; changes here are lost.\n${yaml}`,
        ],
        [`${stem}.html`, toPage(described, side)],
      ];
    }),
  );
}
