import type { EntityManager } from 'typeorm';

/**
 * An open transaction. It is the first parameter of everything that writes, and is never kept: when the function that
 * {@link Database.transaction} called returns, it is over.
 */
export type Tx = EntityManager;
