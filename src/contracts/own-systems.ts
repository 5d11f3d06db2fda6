import { type AnyContract, topicFor } from './contract';
import { errorReport } from './error-report.v1';

/**
 * Id under which the company's own systems come in. Reserved: onboarding, accounts, rights, dead letters and suspension are those of a
 * partner, its documents are not.
 */
export const OWN_SYSTEMS = 'company';

/** A document that none of the partners sends or gets: its topic is one for all of the company's own systems. */
export const isInternal = ({ topic }: AnyContract): boolean => !topic.includes('{partner}');

/** Those of the documents that we exchange with this partner. Whatever concerns one partner's documents or topics begins here. */
export function contractsFor<C extends AnyContract>(contracts: readonly C[], partner: string): C[] {
  // What was wrong is told to everybody who writes to us.
  if (partner === OWN_SYSTEMS)
    return contracts.filter((contract) => isInternal(contract) || contract.name === errorReport.name);
  return contracts.filter((contract) => !isInternal(contract));
}

/** Those of them that travel on this topic of the partner's. */
export function contractsOn<C extends AnyContract>(contracts: readonly C[], topic: string, partner: string): C[] {
  return contractsFor(contracts, partner).filter((contract) => topicFor(contract, partner) === topic);
}
