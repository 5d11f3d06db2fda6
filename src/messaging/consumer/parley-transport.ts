import { type CustomTransportStrategy, Server } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import { type AnyContract, typeOf } from '../../contracts';
import type { Consumer } from './consumer';
import type { ConsumerHealth } from './consumer-health';
import type { Drain } from './drain/drain';
import type { InboundBatch, Outcome } from './handler';
import { checkHandlers } from './handler-registry';
import type { Dispatch } from './handing-over';

/**
 * Nest's handlers over our own batches. The stock Kafka transport guesses types, loses the identity of errors, drops what
 * has no handler and answers to a topic that the sender names; this one does none of that.
 */
export class ParleyTransport extends Server implements CustomTransportStrategy {
  override readonly transportId = Symbol('parley');
  /** A handler's error reaches the processor, which decides what it means. */
  override readonly propagatesEventHandlerErrors = true;
  private readonly consumer: Consumer;
  private readonly drain: Drain;

  /** @param contracts the catalogue, against which the wiring is checked */
  constructor(
    make: (dispatch: Dispatch) => { consumer: Consumer; drain: Drain },
    private readonly contracts: readonly AnyContract[],
  ) {
    super();
    const { consumer, drain } = make((contract, batch) => this.dispatch(contract, batch));
    this.consumer = consumer;
    this.drain = drain;
  }

  /** Refuses incomplete wiring; then starts in the background, since database and broker may come later. */
  listen(callback: (error?: unknown) => void): void {
    try {
      checkHandlers(this.messageHandlers, this.contracts);
    } catch (error) {
      return callback(error);
    }
    this.consumer.start();
    callback();
  }

  /** Takes nothing more, lets running transactions end, leaves the group. Idempotent. */
  close(): Promise<void> {
    return this.consumer.close();
  }

  health(): ConsumerHealth {
    return this.consumer.health();
  }

  /** Parked messages were made due in this process and committed: they are tried at once, not with the next look (a second, at most). */
  wakeDrain(): void {
    this.drain.wake();
  }

  on(): never {
    throw new Error('The transport emits no events; its state is in health().');
  }

  unwrap<T>(): T {
    return this.consumer as T;
  }

  /** Gives messages to the contract's handler. Rejects with the handler's own error. */
  private async dispatch(contract: AnyContract, batch: InboundBatch<unknown>): Promise<readonly Outcome[]> {
    const handler = this.messageHandlers.get(typeOf(contract));
    if (!handler) throw new Error(`${typeOf(contract)} has no handler.`);
    const result: unknown = await lastValueFrom(this.transformToObservable(handler(batch)), {
      defaultValue: undefined,
    });
    if (!Array.isArray(result)) throw new Error(`The handler of ${typeOf(contract)} returned no outcomes.`);
    return result as Outcome[];
  }
}
