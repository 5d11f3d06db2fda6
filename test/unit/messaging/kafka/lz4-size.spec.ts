import { randomBytes } from 'node:crypto';
import { compressFrame } from 'lz4-napi';
import { lz4Size } from '../../../../src/messaging/kafka/lz4-size';

const MOST = 1024 * 1024 * 1024;

describe('the size of an LZ4 frame', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from('x')],
    ['zeros', Buffer.alloc(10_000_000)],
    ['noise', randomBytes(300_000)],
    ['text', Buffer.from('an order of twelve lines; '.repeat(50_000))],
    ['a mixture', Buffer.concat([randomBytes(1000), Buffer.alloc(100_000), randomBytes(70_000), Buffer.alloc(15)])],
  ])('is known without unpacking: %s', async (_name, content) => {
    expect(lz4Size(await compressFrame(content), MOST)).toBe(content.length);
  });

  it('is followed no further than the limit', async () => {
    const frame = await compressFrame(Buffer.alloc(100_000_000));
    const size = lz4Size(frame, 1_000_000);
    expect(size).toBeGreaterThan(1_000_000);
    expect(size).toBeLessThan(100_000_000);
  });

  it('of broken bytes is some number, and takes no time', () => {
    for (let n = 0; n < 2_000; n++) {
      const bytes = randomBytes(1 + (n % 200));
      expect(lz4Size(bytes, MOST)).toBeGreaterThanOrEqual(0);
    }
    expect(lz4Size(Buffer.alloc(1_000_000, 255), MOST)).toBeGreaterThanOrEqual(0);
  });
});
