/**
 * What a change did that an older or newer reader can't live with. Slugs are stable: a partner's documentation and a
 * pipeline may rest on them. Prefix `registry-`: the registry's own word, where Parley's judges found nothing.
 */
export type Rule =
  | 'unreadable'
  | 'not-comparable'
  | 'format-changed'
  | 'registry-refused'
  | 'id-unregistered'
  // Members of a document.
  | 'field-added-required'
  | 'field-removed-required'
  | 'field-renamed'
  | 'type-changed'
  | 'optional-changed'
  | 'repeated-changed'
  | 'name-changed'
  | 'enum-value-added'
  | 'enum-value-removed'
  // Protobuf alone.
  | 'syntax-changed'
  | 'package-changed'
  | 'message-removed'
  | 'message-renamed'
  | 'message-moved'
  | 'enum-removed'
  | 'enum-value-renumbered'
  | 'field-removed-unreserved'
  | 'field-number-changed'
  | 'number-reused'
  | 'reservation-removed'
  | 'oneof-changed'
  | 'packed-changed'
  | 'json-name-changed'
  // Avro alone.
  | 'union-changed'
  | 'size-changed'
  | 'logical-type-changed'
  // Protobuf and Avro.
  | 'default-changed'
  // JSON Schema alone.
  | 'dialect-changed'
  | 'content-closed'
  | 'content-opened'
  | 'field-added-closed'
  | 'field-removed-closed'
  | 'bound-narrowed'
  | 'bound-widened'
  | 'pattern-changed'
  | 'value-changed';

export interface Break {
  /** Path of the member: `lines[].quantity`, in Protobuf `OrderRequest.Line.quantity`; empty where the whole is meant. */
  place: string;
  rule: Rule;
  /** One sentence for people. */
  detail: string;
}

/** A schema's text that its own language does not take. */
export class UnreadableSchema extends Error {
  constructor(reason: string) {
    super(reason.slice(0, 300));
    this.name = 'UnreadableSchema';
  }
}
