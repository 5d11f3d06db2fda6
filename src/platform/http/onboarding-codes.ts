import type { ProblemCode } from './problem-codes';

const AGAIN = 'What was done before stays done, and the same request goes on there.';

/** Codes of what keeps a partner from becoming what its file says. */
export const ONBOARDING_CODES: Readonly<Record<string, ProblemCode>> = {
  'partner-spec-invalid': {
    status: 422,
    title: "The partner's file breaks a rule",
    help: 'Every violation is listed in "errors" with a JSON Pointer. Nothing was changed. docs/partners/partner.schema.json says what may be there, docs/partners/acme.yaml shows it.',
  },
  'partner-plan-changed': {
    status: 409,
    title: 'The plan is no longer what was seen',
    help: 'The file, or what is there of the partner, changed since the plan was made. Nothing was done. Ask for the plan again with plan=true, look at it, and apply that one.',
  },
  'channel-differs': {
    status: 409,
    title: 'A channel is there and was made otherwise',
    help: 'Partitions, format and the rule for missing ids never change once a channel is there, and its messages never become smaller. Nothing was changed. Ask for what is there, as the detail says.',
  },
  'partition-count-differs': {
    status: 409,
    title: 'A topic has another number of partitions',
    help: "The number is fixed for a topic's life: keys would change their partition. Nothing was changed. Ask for the number that is there.",
  },
  'schema-breaks': {
    status: 409,
    title: 'A schema breaks a published one',
    help: 'Nothing was registered. The operator: "parley contracts check" names each place.',
  },
  'schema-unregistered': {
    status: 503,
    title: 'A schema could not be registered',
    help: `${AGAIN} The operator: the detail has the registry's reason.`,
  },
  'replication-factor-invalid': {
    status: 409,
    title: 'The cluster has fewer brokers than copies are asked for',
    help: `Ask for fewer copies (topics.replicationFactor), or have more brokers. ${AGAIN}`,
  },
  'topic-config-invalid': {
    status: 409,
    title: 'The broker refuses an option of a topic',
    help: `The detail has its reason. ${AGAIN}`,
  },
  'topic-policy-violated': {
    status: 409,
    title: "The broker's policy refuses a topic",
    help: `The detail has its reason (create.topic.policy.class.name). ${AGAIN}`,
  },
  'topic-not-ready': {
    status: 503,
    title: 'A topic is made and not led yet',
    help: `Send the same request again. ${AGAIN}`,
  },
  'broker-refused': {
    status: 503,
    title: 'The broker refuses the request',
    help: `The detail has its reason. ${AGAIN}`,
  },
};
