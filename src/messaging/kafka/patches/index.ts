import { patchConnection } from './connection';
import { patchFetchDecoder } from './fetch-decoder';
import { patchRecordDecoder } from './record-decoder';
import { patchRecordEncoder } from './record-encoder';
import { patchRequestQueue } from './request-queue';
import { assertKafkajsVersion, loadInternal } from './version';

assertKafkajsVersion((loadInternal('kafkajs/package.json') as { version: string }).version);
patchRecordEncoder();
patchRecordDecoder();
patchFetchDecoder();
patchRequestQueue();
patchConnection();
