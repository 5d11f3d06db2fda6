/** The bytes are not what they claim to be. The message completes "The … can't be read: …". */
export class Malformed extends Error {}

/** The writer's schema, or what it was used for in this record, can't be read as the contract. */
export class SchemaMismatch extends Error {}
