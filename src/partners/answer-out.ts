import type { FastifyReply } from 'fastify';
import { AppError } from '../platform/errors';

/**
 * Sends an answer that may hold a secret, which no cache keeps. Resolves when it was handed to the network; rejects with `caller-gone` when the caller
 * went away before.
 */
export function answerOut(reply: FastifyReply, answer: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new AppError('caller-gone', 'The caller went away before the answer was out.'));
    // It may have gone while the account was made: then no event comes any more, and the partner would stay locked.
    if (reply.raw.destroyed) return gone();
    reply.raw.once('finish', resolve);
    reply.raw.once('close', gone);
    void reply.status(200).header('cache-control', 'no-store').send(answer);
  });
}

/** Nobody can be told any more what failed: the caller was answered, or went away. */
export const isGone = (reply: FastifyReply): boolean => reply.sent || reply.raw.destroyed;
