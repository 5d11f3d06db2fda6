import { MASK } from '../../contracts';
import type { Scope } from './notification-list';

interface Addressed {
  receiver: string | null;
  receiverName: string | null;
  provider?: string;
  address?: string;
}

/** Receivers belong to no partner: who is confined to some partners knows none, also not by what they are told. */
export function withoutReceiver<Row extends Addressed>(row: Row, scope: Scope): Row {
  if (scope === null || row.receiver === null) return row;
  const provider = row.provider?.replace(/^webhook\/.*/, `webhook/${MASK}`);
  return {
    ...row,
    ...{ receiver: MASK, receiverName: null },
    ...(provider !== undefined && { provider }),
    ...(row.address !== undefined && { address: MASK }),
  };
}
