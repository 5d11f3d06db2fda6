export { openApi } from './docs';
export { nullableText, nullableTime, REASON, REASON_RULE, TIME_EXAMPLE, timeOf } from './dto-words';
export { etagOf, matchesEtag, seenVersion, versionStale } from './etag';
export { createHttpApp } from './http-app';
export { idempotencyKeyOf } from './idempotency-key';
export { IsInstant } from './is-instant';
export {
  BODY_PROBLEMS,
  ETAG,
  IfMatch,
  IfNoneMatch,
  LINK,
  LOCATION,
  NO_STORE,
  operation,
  STALE,
} from './operation.openapi';
export { PageQuery } from './page-query';
export { decodeCursor, encodeCursor, linkNext, type Page, pageOf } from './paging';
export { PROBLEM_CODES } from './problem-codes';
export { REPORT_CODES, REQUEST_CODES, reportCode } from './report-codes';
export { OptionalReasonDto, ReasonDto } from './reason.dto';
export { ApiProblems } from './problem.openapi';
export { childTraceparent } from './trace';
export { addressName, TokenBuckets } from './token-buckets';
