import { firstValueFrom, isObservable } from 'rxjs';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { ProblemFilter } from '../../../../src/platform/http/problem.filter';
import { DtoPipe } from '../../../../src/platform/http/validation.pipe';
import { createLogger } from '../../../../src/platform/telemetry';

// A hybrid application hands its global pipes and filters to message handlers too.
describe('what is global in a hybrid application', () => {
  it("leaves a message handler's error as it is", async () => {
    const error = new TypeError('the original');
    const host = new ExecutionContextHost([{}]);
    host.setType('rpc');
    const answer = new ProblemFilter(createLogger('silent', 'test')).catch(error, host);
    if (!isObservable(answer)) throw new Error('nothing was rethrown');
    await expect(firstValueFrom(answer)).rejects.toBe(error);
  });

  it("leaves a message handler's batch as it is, however deep and long", async () => {
    const batch = {
      messages: Array.from({ length: 5000 }, () => ({ a: { b: { c: { d: { e: { f: { g: { h: 1 } } } } } } } })),
    };
    const pipe = new DtoPipe({ maxItems: 10 });
    expect(await pipe.transform(batch, { type: 'body', metatype: Object })).toBe(batch);
  });
});
