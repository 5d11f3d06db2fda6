import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { confirmed } from '../../../src/cli/confirm';

describe('a question on the terminal', () => {
  async function answered(keys: string): Promise<boolean> {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const answer = confirmed('Register 6 schemas?', { input, output });
    await once(output, 'data');
    input.write(keys);
    return answer;
  }

  it.each([
    ['y\n', true],
    [' YES \n', true],
    ['\n', false],
    ['yesterday\n', false],
    ['n\n', false],
    ['\x04', false],
  ])('%j is %s', async (keys, answer) => {
    expect(await answered(keys)).toBe(answer);
  });

  it('ends with the signal when Ctrl-C is pressed', async () => {
    const sent = new Promise((done) => {
      const kill = jest.spyOn(process, 'kill').mockImplementation((...signal) => {
        kill.mockRestore();
        done(signal);
        return true;
      });
    });
    void answered('\x03');
    expect(await sent).toEqual([process.pid, 'SIGINT']);
  });
});
