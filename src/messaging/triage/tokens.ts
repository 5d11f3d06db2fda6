/** What staff may do with parked messages: a `ParkedDesk`. */
export const PARKED_DESK = Symbol('ParkedDesk');
