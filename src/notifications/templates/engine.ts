import { Liquid, type Template } from 'liquidjs';
import { messageOf } from '../../platform/errors';
import { moment } from './moment';

const PARSE_LIMIT = 100_000;
/** Tags and outputs of one template. Time is no measure of a template: a process that was held up would give up what it can send. */
const RENDER_STEPS = 50_000;
const RENDER_MS = 10_000;
const MEMORY = 2_000_000;

export interface Engine {
  parse(file: string): Template[];
  render(template: Template[], values: object): string;
  /** The names of data that a template uses anywhere, also where it was not rendered: `partner`, `name`. */
  names(template: Template[]): readonly (readonly unknown[])[];
}

/**
 * A template sees its data's own members and nothing else: no prototype, no file but those given here. A name that is not there is an
 * error, except where a condition asks whether it is.
 * @param html every output is escaped, except what a template calls `raw`
 */
export function engineFor(files: Record<string, string>, { html }: { html: boolean }): Engine {
  const liquid = new Liquid({
    templates: files,
    ...{ strictVariables: true, strictFilters: true, ownPropertyOnly: true, lenientIf: true, dynamicPartials: true },
    ...{ parseLimit: PARSE_LIMIT, renderLimit: RENDER_MS, memoryLimit: MEMORY },
    ...(html ? { outputEscape: 'escape' as const } : {}),
  });
  liquid.registerFilter('moment', moment);
  return {
    parse: (file) => liquid.parse(files[file] ?? '', file),
    render: (template, values) => String(liquid.renderSync(template, values, { templateLimit: RENDER_STEPS })),
    names: (template) => liquid.globalVariableSegmentsSync(template),
  };
}

/** What is wrong with a template, without a value of its data. */
export function reasonOf(error: unknown): string {
  const causes = [error, error instanceof Error && 'originalError' in error ? error.originalError : undefined];
  for (const cause of causes)
    if (cause instanceof Error && 'variableName' in cause) return `there is no "${String(cause.variableName)}"`;
  return messageOf(error, 200);
}
