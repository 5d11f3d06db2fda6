import {
  CONTRACTS,
  contractsFor,
  contractsOn,
  errorReport,
  notificationRequest,
  orderCancellation,
  orderRequest,
  OWN_SYSTEMS,
  topicFor,
} from '../../../src/contracts';

describe('the documents of our own systems', () => {
  it('are what has one topic for all of them, and the reports of what was wrong', () => {
    expect(contractsFor(CONTRACTS, OWN_SYSTEMS)).toEqual([errorReport, notificationRequest]);
    expect(contractsOn(CONTRACTS, 'notifications.request.v1', OWN_SYSTEMS)).toEqual([notificationRequest]);
    expect(contractsOn(CONTRACTS, 'errors.company.v1', OWN_SYSTEMS)).toEqual([errorReport]);
  });

  it('are none of a partner, and it has all others, each on a topic with its name', () => {
    const theirs = contractsFor(CONTRACTS, 'acme');
    expect(theirs).toEqual(CONTRACTS.filter((contract) => contract !== notificationRequest));
    for (const contract of theirs) expect(topicFor(contract, 'acme')).toContain('.acme.');
    expect(contractsOn(CONTRACTS, 'notifications.request.v1', 'acme')).toEqual([]);
    expect(contractsOn(CONTRACTS, 'orders.acme.request.v1', 'acme')).toEqual([orderRequest, orderCancellation]);
  });

  it('are not to be had by a partner whose id only begins like theirs', () => {
    expect(contractsFor(CONTRACTS, 'company-2')).toEqual(contractsFor(CONTRACTS, 'acme'));
  });
});
