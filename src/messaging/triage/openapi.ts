import { ApiParam } from '@nestjs/swagger';

// What the descriptions of triage's operations have in common.

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
} from '../../platform/http';

export const IdParam = ApiParam({ name: 'id', description: 'As shown', example: '4711' });
