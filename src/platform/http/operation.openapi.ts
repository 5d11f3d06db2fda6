import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import { ApiProblems } from './problem.openapi';

// What the descriptions of operations have in common.

const DOWN = ['internal', 'database-unavailable'];
export const BODY_PROBLEMS = ['malformed-json', 'request-invalid', 'body-too-large', 'content-type-unsupported'];

const text = (example: string, description?: string) => ({
  schema: { type: 'string' as const },
  example,
  ...(description ? { description } : {}),
});
/** What holds personal data is kept by nobody on the way. */
export const NO_STORE = { 'Cache-Control': text('no-store') };
export const ETAG = { ETag: text('"3"') };
export const LINK = (path: string) => ({
  Link: text(`<${path}?limit=50&cursor=WyI0NzExIl0>; rel="next"`, 'Absent on the last page'),
});
export const LOCATION = (path: string) => ({ Location: text(path) });

export const IfMatch = ApiHeader({
  name: 'If-Match',
  required: true,
  description: 'ETag of what you looked at',
  example: '"3"',
});
export const IfNoneMatch = ApiHeader({
  name: 'If-None-Match',
  required: false,
  description: 'ETag that the caller has',
  example: '"3"',
});
/** What {@link IfMatch} may be refused with. */
export const STALE = ['version-stale', 'precondition-missing'];

/** An operation with its name, one sentence, and the problems it may answer with. */
export const operation = (
  operationId: string,
  summary: string,
  problems: readonly string[],
  ...more: ((MethodDecorator & ClassDecorator) | MethodDecorator)[]
): MethodDecorator =>
  applyDecorators(ApiOperation({ operationId, summary }), ...more, ApiProblems(...problems, ...DOWN));
