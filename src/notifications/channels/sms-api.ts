import type { HttpRequest } from './http-exchange';
import type { Letter, LookUpOutcome, SendOutcome } from './provider';

/** A complete answer of the provider's server; `json` is undefined where the body is none. */
export interface SmsAnswer {
  status: number;
  json: unknown;
  retryAfterMs: number | undefined;
}

/**
 * The API of one SMS provider: what is asked, and what its answers mean. Pure; {@link SmsProvider} does the talking. Another provider is
 * another one of these and a key that chooses. Details may quote the provider: what is personal is taken out by the caller.
 */
export interface SmsApi {
  /** How long a message under an id that it accepted is not sent out again, ms. */
  readonly remembersMs: number;
  /** @param to digits of E.164 */
  sending(letter: Letter, to: string, text: string): HttpRequest;
  outcome(answer: SmsAnswer): SendOutcome;
  lookingUp(letter: Letter): HttpRequest;
  /** @param now to judge whether its log still reaches back to the first attempt */
  lookedUp(answer: SmsAnswer, letter: Letter, now: Date): LookUpOutcome;
}
