export { openApi } from './docs';
export { etagOf, matchesEtag, seenVersion, versionStale } from './etag';
export { createHttpApp } from './http-app';
export { PageQuery } from './page-query';
export { decodeCursor, encodeCursor, linkNext, type Page, pageOf } from './paging';
export { PROBLEM_CODES } from './problem-codes';
export { reportCode } from './report-codes';
export { ApiProblems } from './problem.openapi';
export { childTraceparent } from './trace';
