export { openApi } from './docs';
export { createHttpApp } from './http-app';
export { PROBLEM_CODES } from './problem-codes';
export { ApiProblems } from './problem.openapi';
export { childTraceparent } from './trace';
