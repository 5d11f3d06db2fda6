import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { createHttpApp, reportCode } from '../../../../src/platform/http';
import { REPORT_CODES, REQUEST_CODES } from '../../../../src/platform/http/report-codes';
import { createLogger } from '../../../../src/platform/telemetry';

const ROOT = join(__dirname, '..', '..', '..', '..');
/** How an outcome that ends a record is written down. */
const ENDS = [/kind: 'dead',\s*code: '([^']+)'/g, /\bdead\(\s*'([^']+)'/g, /\brefuse\('([^']+)'/g];

describe('the codes of error reports', () => {
  it('have a page each that a record can end with', () => {
    const sources = globSync('src/{orders,shipments,messaging/{consumer,exchanges}}/**/*.ts', { cwd: ROOT });
    const codes = sources.flatMap((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      return ENDS.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] as string));
    });
    const decoding = ['undecodable', 'schema-unknown', 'schema-mismatch', 'invalid'];
    // What another partner's exchange is called within; to the outside it is exchange-unknown.
    const told = new Set([...codes, ...decoding].filter((code) => code !== 'exchange-foreign'));
    expect(told.size).toBeGreaterThan(15);
    expect([...told].filter((code) => !reportCode(code))).toEqual([]);
  });

  it('are explained where a report says', async () => {
    @Module({})
    class Empty {}
    const logger = createLogger('silent', 'test');
    const app = await createHttpApp(Empty, { httpBodyLimit: 1024 }, logger);
    try {
      await app.init();
      for (const [code, { title }] of Object.entries({ ...REPORT_CODES, ...REQUEST_CODES })) {
        const { statusCode, body } = await app.inject({ method: 'GET', url: String(reportCode(code)?.page) });
        expect([code, statusCode]).toEqual([code, 200]);
        expect(body).toContain(`>${title}<`);
        expect(body).toContain('in error reports to partners');
      }
    } finally {
      await app.close();
    }
  });

  it('are none of the inside', () => {
    const inside = ['internal', 'database-unavailable', 'constructor', 'handler-failed'];
    // What goes wrong with a document of ours, which is explained to callers of the API.
    const ours = ['document-invalid', 'message-too-large', 'channel-unknown'];
    expect([...inside, ...ours].filter((code) => reportCode(code))).toEqual([]);
  });
});
