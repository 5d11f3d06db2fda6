/** From the mildest; npm's words. */
export const SEVERITIES = ['info', 'low', 'moderate', 'high', 'critical'];

const reaches = (severity, least) => SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least);

/**
 * Advisories of an answer of `npm audit --json` (npm 7 and newer), each once: a package that only depends on an affected one names that
 * one (`via` is then a text). Throws a TypeError for what is no such answer.
 */
export function advisoriesOf(report) {
  if (report?.auditReportVersion !== 2) throw new TypeError('not an audit report of npm 7 or newer');
  const found = new Map();
  for (const { via } of Object.values(report.vulnerabilities)) {
    for (const cause of via) {
      if (typeof cause === 'string') continue;
      const { name, title, url, severity, range } = cause;
      const id = url?.split('/').at(-1) ?? String(cause.source);
      found.set(`${name} ${id}`, { package: name, advisory: id, title, url, severity, range });
    }
  }
  return [...found.values()];
}

/** Why an allow-list can't be used, in words; empty when it can. */
export function faultsOf(allowed) {
  if (!Array.isArray(allowed)) return ['The allow-list is no list.'];
  return allowed.flatMap((entry, n) => {
    const missing = ['package', 'advisory', 'reason', 'until'].filter(
      (name) => typeof entry?.[name] !== 'string' || entry[name].trim() === '',
    );
    if (missing.length > 0) return [`Entry ${n + 1} of the allow-list lacks ${missing.join(', ')}.`];
    const isDay = /^\d{4}-\d{2}-\d{2}$/.test(entry.until) && !Number.isNaN(Date.parse(entry.until));
    return isDay ? [] : [`Entry ${n + 1} of the allow-list ends on ${entry.until}, which is no day.`];
  });
}

/**
 * What stands against a release. `production` and `all` are advisories without and with what only development needs; `allowed` is the
 * allow-list; `today` is `2026-11-30`. An entry counts up to and with its last day.
 */
export function judge({ production, all, allowed, levels, today }) {
  const keyOf = ({ package: name, advisory }) => `${name} ${advisory}`;
  const shipped = new Set(production.map(keyOf));
  const entries = new Map(allowed.map((entry) => [keyOf(entry), entry]));
  const failures = [];
  const accepted = [];
  for (const advisory of all) {
    const kind = shipped.has(keyOf(advisory)) ? 'production' : 'development';
    if (!reaches(advisory.severity, levels[kind])) continue;
    const entry = entries.get(keyOf(advisory));
    const what = `${advisory.package} ${advisory.range} (${kind}): ${advisory.severity}, ${advisory.title}, ${advisory.url}`;
    if (!entry) failures.push(what);
    else if (entry.until < today) failures.push(`${what}; it was allowed until ${entry.until}: ${entry.reason}`);
    else accepted.push(`${what}; allowed until ${entry.until}: ${entry.reason}`);
  }
  const known = new Set(all.map(keyOf));
  for (const entry of allowed)
    if (!known.has(keyOf(entry)))
      failures.push(`The allow-list names ${keyOf(entry)}, and nothing has it: take it out.`);
  return { failures, accepted };
}
