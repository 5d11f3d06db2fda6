import { patchConnection } from './connection';
import { patchFetchDecoder } from './fetch-decoder';
import { patchRecordEncoder } from './record-encoder';
import { patchRequestQueue } from './request-queue';
import { assertKafkajsVersion, loadInternal } from './version';

assertKafkajsVersion((loadInternal('kafkajs/package.json') as { version: string }).version);
patchRecordEncoder();
patchFetchDecoder();
patchRequestQueue();
patchConnection();
