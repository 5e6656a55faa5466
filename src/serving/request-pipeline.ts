import { describeUnexpected } from '../native/unexpected-error';
import { admit, keepDeadline } from './admission';
import { authenticate } from './authentication';
import { report } from './report';
import type { Outcome, RequestContext, Stage } from './request-context';
import type { ServerContext } from './server-context';

/** A request's way, in the order in which it goes it. */
function stagesOf(context: ServerContext, keyNeeded: string): readonly Stage[] {
  return [
    authenticate(context, keyNeeded), // who asks: 401
    admit(context), // its turn on the event loop: 503 where that is far off
    keepDeadline(context), // until when: 503 where the queue would refuse it
    (exchange) => exchange.receive(), // the transport reads it, within its limits
    parse, // in another turn: bytes to JSON
    run, // the protocol checks it and asks the model
    (exchange) => exchange.response && exchange.send(exchange.response),
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
    const answer = (await exchange.handle?.(exchange)) ?? null;
    if (answer?.inferences) exchange.recordInferences(answer.inferences);
    const written = answer && exchange.write(answer);
    exchange.response = written instanceof Promise ? await written : written;
  } catch (error) {
    if (!exchange.isOver) exchange.fail(error);
    return;
  }
  next(exchange);
};

/** The way of all requests of a transport. */
export class Pipeline {
  readonly #context: ServerContext;
  readonly #stages: readonly Stage[];
  readonly #machineRoutes: ReadonlySet<string>;

  /**
   * @param keyNeeded how a key is sent, for those who sent none
   * @param machineRoutes that probes and scrapers ask every few seconds
   */
  constructor(context: ServerContext, keyNeeded: string, machineRoutes: ReadonlySet<string>) {
    this.#context = context;
    this.#stages = stagesOf(context, keyNeeded);
    this.#machineRoutes = machineRoutes;
  }

  /** A request has arrived. */
  begin(exchange: RequestContext): void {
    this.#next(exchange);
  }

  /** It has been read. */
  received(exchange: RequestContext): void {
    if (exchange.isQueued) this.#context.scheduler.proceed(() => this.#next(exchange));
    else this.#next(exchange);
  }

  /** Its answer is out, or its client has gone. */
  ended(exchange: RequestContext, outcome: Outcome): void {
    report(this.#context, exchange, outcome, this.#machineRoutes.has(outcome.route ?? ''));
  }

  /** Logs an error of the log line, metrics or span of a request that has ended. */
  failedToReport(error: unknown): void {
    this.#context.logger.error({ error: describeUnexpected(error) }, 'request report failed');
  }

  readonly #next = (exchange: RequestContext): void => {
    if (exchange.isOver || exchange.error) return; // the client has gone, or been told
    try {
      this.#stages[exchange.stage++]?.(exchange, this.#next);
    } catch (error) {
      exchange.fail(error);
    }
  };
}
