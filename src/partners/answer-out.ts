import type { FastifyReply } from 'fastify';

/**
 * Sends an answer that may hold a secret, which no cache keeps. Resolves when it was handed to the network; rejects when the caller went away
 * before.
 */
export function answerOut(reply: FastifyReply, answer: object): Promise<void> {
  return new Promise((resolve, reject) => {
    reply.raw.once('finish', resolve);
    reply.raw.once('close', () => reject(new Error('the caller went away before the answer was out')));
    void reply.status(200).header('cache-control', 'no-store').send(answer);
  });
}
