/** One catch of so many begins with what is less urgent. */
const EVERY = 8;

/**
 * In which order a provider's next catch looks at urgencies (their places in URGENCIES). What is more urgent goes first, and nothing waits for
 * ever behind it: one catch in sixteen begins with what is normal, and one with what is low.
 */
export function turnsOf(catches: number): readonly number[] {
  if (catches % EVERY < EVERY - 1) return [0, 1, 2];
  return Math.floor(catches / EVERY) % 2 === 0 ? [1, 0, 2] : [2, 0, 1];
}
