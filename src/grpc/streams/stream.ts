import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { Method, StreamHandler, StreamMethod } from '../../protocols/grpc-service';
import { ServiceError } from '../../serving/errors';
import type { RequestsInFlight } from '../../serving/in-flight';
import type { ModelRoute, ServiceResponse } from '../../serving/request-context';
import type { Pipeline } from '../../serving/request-pipeline';
import type { GrpcRequestContext } from '../exchange';
import type { MessageHead } from '../message-heads';
import { Unreadable } from '../reading';
import type { Receiving } from '../receiving';
import { Feed } from './feed';
import { type MessageEnds, MessageExchange } from './message';

export interface StreamOptions {
  readonly pipeline: Pipeline;
  readonly receiving: Receiving;
  readonly inFlight: RequestsInFlight;
  readonly method: StreamMethod;
  /** Of its messages. */
  readonly target: ModelRoute;
  readonly serialize: (answer: object) => Buffer;
}

/** What is to be sent for a message: its answers, or the status with which the stream ends. */
type Settled = { readonly answers: readonly Buffer[] } | { readonly status: ServiceError };

/**
 * A call whose messages are requests of their own: each goes the pipeline's way, some of them at
 * once, and the answers are sent in the order of the messages.
 */
export class Stream {
  readonly call: GrpcRequestContext;
  /** So many have begun. */
  count = 0;
  readonly #duplex: ServerDuplexStream<object, object>;
  readonly #options: StreamOptions;
  readonly #handler: StreamHandler;
  readonly #feed: Feed;
  /** Whose answers are not written yet, from the first on; null: not known yet. */
  readonly #toAnswer = new Map<MessageExchange, Settled | null>();
  /** Whose answers are written, and not taken yet. */
  readonly #answered = new Set<MessageExchange>();
  /** Refused for now, while others of this stream were under way: they begin again, one for each of those. */
  readonly #parked: MessageExchange[] = [];
  /** The one that comes, until grpc-js has read it. */
  #coming: MessageExchange | null = null;
  /** Its client sends no more. */
  #isAtEnd = false;
  #isDraining = false;
  readonly #ends: MessageEnds = {
    receive: (message) => this.#options.pipeline.received(message),
    send: (message, { body }: ServiceResponse) => {
      const answers = (body as readonly object[]).map(this.#options.serialize);
      this.#settle(message, { answers });
    },
    sendError: (message, error) => {
      if (this.#park(message, error)) return;
      const told = this.#tell(message, error);
      this.#settle(
        message,
        told ? { answers: [this.#options.serialize(told)] } : { status: error },
      );
    },
  };

  constructor(
    call: GrpcRequestContext,
    duplex: ServerDuplexStream<object, object>,
    options: StreamOptions,
  ) {
    this.call = call;
    this.#duplex = duplex;
    this.#options = options;
    this.#handler = options.method.open(call);
    if (options.method.isOneRequest) options.inFlight.begun();
    this.#feed = new Feed(call.innermost, {
      hasRoom: () => {
        const isFull = this.#size >= options.method.mostAtOnce || this.#parked.length > 0;
        return !isFull && !this.#isDraining;
      },
      begins: (head) => this.#begin(head),
      comes: () => this.#coming === null || this.#accept(options.receiving.piece(this.#coming)),
      crashed: (error) => this.#crash(error),
    });
    options.receiving.idles(call);
    duplex.on('data', (body: object) => this.#bounded(() => this.#read(body)));
    duplex.on('end', () =>
      this.#bounded(() => {
        this.#isAtEnd = true;
        call.isWhole = true;
        this.#rest();
      }),
    );
  }

  /** An unexpected error ends this stream, and no other one. */
  #bounded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#crash(error);
    }
  }

  #crash(error: unknown): void {
    this.#feed.stop();
    this.call.fail(error);
  }

  /** What has begun is answered, and nothing more is read; of one that is one request all is. */
  drain(): void {
    if (this.#options.method.isOneRequest) return;
    this.#isDraining = true;
    this.#bounded(() => this.#rest());
  }

  get #size(): number {
    return this.#toAnswer.size + this.#answered.size;
  }

  #begin(head: MessageHead): boolean {
    const { receiving, inFlight, target } = this.#options;
    this.count++;
    const order = { number: this.count, isPipelined: this.#size > 0 };
    const message = new MessageExchange(this.call, target, this.#ends, order);
    message.handle = () => (this.#handler.answer as Method)(message.body as never, message);
    inFlight.begun();
    this.#coming = message;
    this.#toAnswer.set(message, null);
    return this.#accept(receiving.beginMessage(message, head));
  }

  #accept(refusal: ServiceError | null): boolean {
    if (refusal) this.#coming?.fail(refusal);
    return refusal === null;
  }

  /** grpc-js has the message that was coming. */
  #read(body: object): void {
    const message = this.#coming as MessageExchange;
    this.#coming = null;
    message.isRead = true;
    message.body = body;
    this.#options.receiving.whole(message);
    this.#options.pipeline.begin(message);
  }

  /** Null: after this error the stream has to end. */
  #tell({ isRead, body }: MessageExchange, error: ServiceError): object | null {
    const isOfStream = error.code === 'KEY_NEEDED' || error.code === 'DRAINING';
    if (!isRead || isOfStream) return null;
    return this.#handler.tell(error, body instanceof Unreadable ? null : (body as never));
  }

  /** A stream that fills the queue by itself is slowed down, not refused. True: it waits. */
  #park(message: MessageExchange, { code }: ServiceError): boolean {
    if (!message.isRead || (code !== 'QUEUE_FULL' && code !== 'WAIT_TOO_LONG')) return false;
    const waiting = new Set([...this.#parked, message, this.#coming]);
    const isAlone = [...this.#toAnswer].every(
      ([other, settled]) => settled !== null || waiting.has(other),
    );
    if (!isAlone) this.#parked.push(message);
    return !isAlone;
  }

  #settle(message: MessageExchange, settled: Settled): void {
    if (this.#toAnswer.get(message) !== null) return; // it is answered, or over
    this.#toAnswer.set(message, settled);
    this.#flush();
    const next = this.call.isEnding ? undefined : this.#parked.shift();
    if (!next) return;
    next.again();
    this.#options.pipeline.begin(next);
  }

  #flush(): void {
    for (const [first, its] of this.#toAnswer) {
      if (its === null || this.call.isEnding) return;
      if ('status' in its) this.#fail(its.status);
      else this.#write(first, its.answers);
    }
  }

  #write(message: MessageExchange, answers: readonly Buffer[]): void {
    this.#toAnswer.delete(message);
    this.#answered.add(message);
    this.#options.receiving.answered(
      message,
      answers.reduce((sum, { length }) => sum + length, 0),
    );
    let left = answers.length;
    if (left === 0) this.#end(message, true);
    for (const answer of answers) {
      // Called when HTTP/2 has let it go to the client.
      this.#duplex.write(answer, (error?: Error | null) => {
        if (--left === 0 && !error) this.#bounded(() => this.#end(message, true));
      });
    }
  }

  #end(message: MessageExchange, answered: boolean): void {
    if (message.isOver) return;
    const { receiving, pipeline, inFlight } = this.#options;
    this.#toAnswer.delete(message);
    this.#answered.delete(message);
    try {
      const outcome = message.end(answered);
      const { isAside } = this.#handler;
      const isTold = !message.isRead || message.error || !isAside?.(message.body as never);
      if (isTold) pipeline.ended(message, outcome);
      receiving.end(message);
      if (!this.call.isOver) this.#rest();
    } finally {
      inFlight.ended(); // else the service would wait for it when it stops
    }
  }

  /** One fewer is on its way, or none: the next may come, or the stream ends. */
  #rest(): void {
    this.#feed.advance();
    if (this.#size > 0 || this.call.isEnding) return;
    if (this.#isAtEnd) this.#duplex.end();
    else if (!this.#isDraining) this.#options.receiving.idles(this.call);
    else this.#fail(new ServiceError('DRAINING', 'The service is shutting down.'));
  }

  /** Ends the stream. */
  #fail(error: ServiceError): void {
    this.#feed.stop();
    this.call.fail(error);
  }

  /** The call is over, whatever came before: what is on its way is stopped. */
  end(): void {
    for (const [message, settled] of this.#toAnswer) {
      const isAnswered = settled !== null && 'status' in settled; // or nobody has its answer
      this.#bounded(() => this.#end(message, isAnswered));
    }
    for (const message of this.#answered) this.#bounded(() => this.#end(message, false));
    this.#bounded(() => this.#handler.close?.());
    if (this.#options.method.isOneRequest) this.#options.inFlight.ended();
  }
}
