import type { Finding, PublishOutcome, PublishStep } from '../messaging/evolution';

/** A line for each break: whose, where, against what, which rule, why. */
export function breakLines({ subject, breaks }: Finding): string[] {
  return breaks.map(({ version, place, rule, detail }) => {
    const against = version === undefined ? '' : ` version ${version}`;
    return `${subject.partner} ${subject.name}${against}: ${place && `${place}: `}${rule}: ${detail}`;
  });
}

export function summaryOf(findings: readonly Finding[]): string {
  const breaks = findings.reduce((sum, finding) => sum + finding.breaks.length, 0);
  const versions = findings.reduce((sum, finding) => sum + finding.versions.length, 0);
  const said = breaks === 0 ? 'no break' : breaks === 1 ? '1 break' : `${breaks} breaks`;
  return `${said}: ${findings.length} schemas compared with ${versions} registered versions`;
}

/** The finding without the schemas' texts. */
export function jsonOf({ subject, versions, published, used, breaks }: Finding): object {
  return {
    ...{ partner: subject.partner, contract: subject.contract.name, format: subject.schema.format },
    subject: subject.name,
    versions: versions.map(({ version, id }) => ({ version, id })),
    published: published ? { version: published.version, id: published.id } : null,
    used,
    breaks,
  };
}

const ACTIONS = { new: 'new', 'next-version': 'next version', unchanged: 'unchanged' } as const;

export function stepLine({ subject, action }: PublishStep): string {
  return `${ACTIONS[action].padEnd(12)} ${subject.name} (${subject.schema.format})`;
}

export function outcomeLine({ subject, result, id, version, reason }: PublishOutcome): string {
  const place = id === undefined ? '' : ` as version ${version}, id ${id}`;
  return `${subject.name}: ${result.replaceAll('-', ' ')}${place}${reason === undefined ? '' : `: ${reason}`}`;
}
