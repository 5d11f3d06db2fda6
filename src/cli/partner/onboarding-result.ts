import { type Applied, viewOf } from '../../partners';
import { hint, tell } from '../output';
import { planLines } from './plan-lines';

/** Prints what an onboarding did, and the secret that it made, this once. Rejects when nobody read it. */
export async function tellResult({ plan, account }: Applied, { json }: { json: boolean }): Promise<void> {
  const view = viewOf(plan);
  const { partner, channels } = view;
  await tell(json, { ...view, account: account ? { ...account, password: account.password ?? null } : null }, [
    ...planLines(view),
    ...channels.map(
      ({ topic, direction, partitions, format }) =>
        `  ${direction === 'out' ? 'we write  ' : 'they write'} ${topic} (${partitions} partitions, ${format})`,
    ),
    ...(account ? [`account ${account.username}`] : []),
    ...(account?.password === undefined ? [] : [`password ${account.password}`]),
  ]);
  if (json || !account) return;
  if (account.password === undefined)
    return hint(`${account.username}: a certificate of the partner's own; no password is made.`);
  hint('The password is shown this once and kept nowhere: hand it over on a way that only the partner reads.');
  hint(`One that is lost is replaced: parley partner rotate ${partner}`);
}
