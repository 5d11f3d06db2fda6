// Asks the registry for known holes in what is installed, and holds them against an allow-list with reasons and dates.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { advisoriesOf, faultsOf, judge, SEVERITIES } from './audit/judge.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const ALLOWED = join(root, 'scripts', 'audit', 'allowed.json');

const HELP = `Asks npm for advisories about the packages of package-lock.json, those that are shipped and those of development apart.

  node scripts/dependency-audit.mjs
  node scripts/dependency-audit.mjs --required

Options
  --required              ends with 1 where the registry tells no advisories (default: says so, and ends with 0)
  --production LEVEL      least severity that counts in what is shipped (default low)
  --development LEVEL     the same in what only development needs (default high)
  --allowed FILE          what is allowed: [{"package", "advisory", "reason", "until": "2026-12-31"}]
                          (default scripts/audit/allowed.json); past its day an entry counts no more, and one that nothing needs fails
  --help                  this text

A level is one of ${SEVERITIES.join(', ')}. Exit: 0 nothing stands against a release, or not audited; 1 something does; 2 usage.
`;

function usage(message) {
  console.error(`${message}\n\n${HELP}`);
  process.exit(2);
}

function readOptions() {
  let values;
  try {
    values = parseArgs({
      options: {
        required: { type: 'boolean', default: false },
        production: { type: 'string', default: 'low' },
        development: { type: 'string', default: 'high' },
        allowed: { type: 'string', default: ALLOWED },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    usage(error.message);
  }
  for (const kind of ['production', 'development'])
    if (!SEVERITIES.includes(values[kind])) usage(`--${kind} ${values[kind]} is no level.`);
  return values;
}

function readAllowed(file) {
  let allowed;
  try {
    allowed = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    usage(`The allow-list ${file} cannot be read: ${error.message}`);
  }
  const faults = faultsOf(allowed);
  if (faults.length > 0) usage(faults.join('\n'));
  return allowed;
}

/** The answer to one audit, or why there is none. npm ends with 1 both for advisories and for a registry that has none to give. */
function audit(...options) {
  const run = spawnSync('npm', ['audit', '--json', '--package-lock-only', ...options], {
    cwd: root,
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  if (run.error) return { why: `npm did not run: ${run.error.message}` };
  let report;
  try {
    report = JSON.parse(run.stdout);
  } catch {
    return { why: `npm ended with ${run.status} and told nothing. ${run.stderr.trim().split('\n').at(-1)}` };
  }
  if (report.auditReportVersion === undefined)
    return { why: report.message ?? report.error?.summary ?? 'npm told no report' };
  return { advisories: advisoriesOf(report) };
}

function main() {
  const { help, required, production, development, allowed: file } = readOptions();
  if (help) {
    console.log(HELP);
    return 0;
  }
  const allowed = readAllowed(file);
  const all = audit();
  const shipped = all.why === undefined ? audit('--omit=dev') : all;
  const why = all.why ?? shipped.why;
  if (why !== undefined) {
    console.error(`not audited: ${why}`);
    console.error(
      required
        ? 'The registry has to tell advisories here: set npm to one that does (npm config set registry …), and run it again.'
        : 'That says nothing about the packages. Where the registry tells advisories, --required makes this a failure.',
    );
    return required ? 1 : 0;
  }
  const levels = { production, development };
  const today = new Date().toISOString().slice(0, 10);
  const { failures, accepted } = judge({ production: shipped.advisories, all: all.advisories, allowed, levels, today });
  for (const line of accepted) console.log(`allowed: ${line}`);
  for (const line of failures) console.error(line);
  if (failures.length === 0) {
    console.log(
      `audited: nothing of ${production} or more is shipped, nothing of ${development} or more is used in development.`,
    );
    return 0;
  }
  console.error(
    `${failures.length} found. Update the package (npm audit fix), or allow it for a time, with a reason, in ${file}.`,
  );
  return 1;
}

process.exitCode = main();
