export { openApi } from './docs';
export { createHttpApp } from './http-app';
export { PageQuery } from './page-query';
export { PROBLEM_CODES } from './problem-codes';
export { reportCode } from './report-codes';
export { ApiProblems } from './problem.openapi';
export { childTraceparent } from './trace';
