import { admit, keepDeadline } from './admission';
import { authenticate } from './authentication';
import type { Exchange } from './exchange';
import type { Scheduler } from './scheduler';
import type { Stage, StageOptions } from './stage';

/** A request's way, in the order in which it goes it. When its answer is out, or its client has gone, `report`. */
function stagesOf(options: StageOptions): readonly Stage[] {
  return [
    authenticate(options), // who asks: 401
    admit(options), // its turn on the event loop: 503 where that is far off
    keepDeadline(options), // until when: 503 where the queue would refuse it
    (exchange) => exchange.receive(), // the transport reads it, within its limits
    parse, // in another turn: bytes to JSON
    run, // the protocol checks it and asks the model
    (exchange) => exchange.answer && exchange.send(exchange.answer),
  ];
}

/** Bytes to JSON, or to what else the route takes. */
const parse: Stage = (exchange, next) => {
  exchange.parse();
  next(exchange);
};

/** The protocol checks the request and asks the model; what that took is known from here on. */
const run: Stage = async (exchange, next) => {
  try {
    exchange.answer = (await exchange.handle?.(exchange)) ?? null;
    if (exchange.answer?.inferences) exchange.note(exchange.answer.inferences);
  } catch (error) {
    if (!exchange.isOver) exchange.fail(error);
    return;
  }
  next(exchange);
};

/** The way of all requests of a transport. */
export class Pipeline {
  readonly #stages: readonly Stage[];
  readonly #scheduler: Scheduler;

  constructor(options: StageOptions) {
    this.#stages = stagesOf(options);
    this.#scheduler = options.scheduler;
  }

  /** A request has arrived. */
  begin(exchange: Exchange): void {
    this.#next(exchange);
  }

  /** It has been read. */
  received(exchange: Exchange): void {
    if (exchange.isWork) this.#scheduler.proceed(() => this.#next(exchange));
    else this.#next(exchange);
  }

  readonly #next = (exchange: Exchange): void => {
    if (exchange.isOver || exchange.error) return; // the client has gone, or been told
    try {
      this.#stages[exchange.stage++]?.(exchange, this.#next);
    } catch (error) {
      exchange.fail(error);
    }
  };
}
