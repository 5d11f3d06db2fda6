/** What staff may do with parked messages: a `ParkedDesk`. */
export const PARKED_DESK = Symbol('ParkedDesk');
/** A `Codec`, which shows the documents of dead letters. */
export const DOCUMENT_CODEC = Symbol('Codec of dead letters');
