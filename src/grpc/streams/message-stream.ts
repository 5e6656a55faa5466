import type {
  GrpcService,
  MessageHandler,
  StreamHandler,
  StreamMethod,
} from '../../protocols/grpc-service';
import type { RequestsInFlight } from '../../serving/connections';
import { ServiceError } from '../../serving/errors';
import type { ServiceResponse } from '../../serving/request-context';
import type { RequestPipeline } from '../../serving/request-pipeline';
import type { GrpcConnections } from '../grpc-connections';
import type { GrpcRequestContext } from '../grpc-request-context';
import { type MessagePrefix, MessageReader } from '../message-reader';
import { type GrpcRoute, parseMessage, readable } from '../routes';
import { OK } from '../status';
import { type MessageTransport, StreamMessageContext } from './stream-message-context';

export interface MessageStreamOptions {
  readonly route: GrpcRoute;
  readonly method: StreamMethod;
  /** See `GrpcService`. */
  readonly refusal: GrpcService['admissionError'];
  readonly pipeline: RequestPipeline;
  readonly connections: GrpcConnections;
  readonly inFlight: RequestsInFlight;
}

/** Result of a message: its responses, or the status with which the stream ends. */
type Result = { readonly responses: readonly Buffer[] } | { readonly status: ServiceError };

/**
 * A call whose messages are requests. Each message passes through the pipeline, several at once; the responses are sent
 * in the order of the messages.
 */
export class MessageStream {
  readonly call: GrpcRequestContext;
  /** Number of messages that have begun. */
  count = 0;
  readonly #options: MessageStreamOptions;
  readonly #handler: StreamHandler;
  readonly #reader: MessageReader;
  /** Messages without written responses, oldest first, with their result; null: not known yet. */
  readonly #results = new Map<StreamMessageContext, Result | null>();
  /** Messages whose responses are written, but not taken by the client. */
  readonly #written = new Set<StreamMessageContext>();
  /** Messages that were rejected because this stream fills the queue. They restart one by one as others end. */
  readonly #parked: StreamMessageContext[] = [];
  /** The message that is being received; null: none. */
  #current: StreamMessageContext | null = null;
  /** True when the client has ended its side. */
  #hasEnded = false;
  #isDraining = false;

  constructor(call: GrpcRequestContext, options: MessageStreamOptions) {
    this.call = call;
    this.#options = options;
    this.#handler = options.method.open(call);
    this.#reader = new MessageReader(call, {
      isReady: () => this.#isReady(),
      onBegin: (prefix) => this.#begin(prefix),
      onChunk: () => {
        const message = this.#current;
        if (message) this.#admit(message, () => options.connections.countChunk(message));
      },
      onMessage: (bytes) => this.#received(parseMessage(options.route, bytes)),
      onEnd: () => {
        this.#hasEnded = true;
        call.isReceived = true;
        this.#continue();
      },
    });
    if (options.method.isSingleRequest) options.inFlight.add();
  }

  start(): void {
    this.#options.connections.markIdle(this.call);
    this.#reader.advance();
  }

  /** Ends the stream when all received messages have their responses. A single request continues until its end. */
  drain(): void {
    if (this.#options.method.isSingleRequest) return;
    this.#isDraining = true;
    this.#guard(() => this.#continue());
  }

  /** Stops all messages, since the call has ended. */
  end(): void {
    for (const [message, result] of this.#results) {
      const isAnswered = result !== null && 'status' in result; // responses would not reach the client
      this.#guard(() => this.#end(message, isAnswered));
    }
    for (const message of this.#written) this.#guard(() => this.#end(message, false));
    this.#guard(() => this.#handler.close?.());
    if (this.#options.method.isSingleRequest) this.#options.inFlight.remove();
  }

  /** An unexpected error ends this stream only. */
  #guard(work: () => void): void {
    if (!this.call.guard(work)) this.#reader.stop();
  }

  #isReady(): boolean {
    const isFull = this.#size >= this.#options.method.maxConcurrentMessages;
    return !isFull && this.#parked.length === 0 && !this.#isDraining;
  }

  get #size(): number {
    return this.#results.size + this.#written.size;
  }

  readonly #transport: MessageTransport = {
    send: (message, { body }: ServiceResponse) => {
      this.#settle(message, { responses: (body as readonly object[]).map(this.#serialize) });
    },
    sendError: (message, error) => {
      if (this.#park(message, error)) return;
      const response = this.#errorMessage(message, error);
      this.#settle(
        message,
        response ? { responses: [this.#serialize(response)] } : { status: error },
      );
    },
  };

  readonly #serialize = (message: object): Buffer =>
    this.#options.route.definition.responseSerialize(message);

  #begin(prefix: MessagePrefix): void {
    const { connections, inFlight } = this.#options;
    this.count++;
    const message = new StreamMessageContext(this.call, {
      transport: this.#transport,
      number: this.count,
      isPipelined: this.#size > 0,
    });
    inFlight.add();
    this.#current = message;
    this.#results.set(message, null);
    this.#admit(message, () => connections.beginStreamMessage(this.call, message, prefix));
  }

  /** Fails the message and reads nothing more if `reserve` throws. */
  #admit(message: StreamMessageContext, reserve: () => void): void {
    try {
      reserve();
    } catch (error) {
      this.#reader.stop();
      message.fail(error);
    }
  }

  /** The current message has been received. */
  #received(body: object): void {
    const message = this.#current as StreamMessageContext;
    this.#current = null;
    message.body = body;
    this.#options.connections.received(message);
    this.#run(message);
  }

  #run(message: StreamMessageContext): void {
    const { pipeline, refusal } = this.#options;
    const handle = this.#handler.handle as MessageHandler;
    pipeline.begin(message, () => {
      pipeline.checkDeadline(message, refusal);
      pipeline.respond(message, () => handle(readable(message.body), message));
    });
  }

  /** Null: the stream has to end with this error. */
  #errorMessage({ isReceived, body }: StreamMessageContext, error: ServiceError): object | null {
    const endsStream = error.code === 'KEY_NEEDED' || error.code === 'DRAINING';
    if (!isReceived || endsStream) return null;
    return this.#handler.errorMessage(error, body instanceof ServiceError ? null : (body as never));
  }

  /** Slows down a stream that fills the queue alone, instead of rejecting its messages. True: the message waits. */
  #park(message: StreamMessageContext, { code }: ServiceError): boolean {
    if (!message.isReceived || (code !== 'QUEUE_FULL' && code !== 'WAIT_TOO_LONG')) return false;
    const waiting = new Set([...this.#parked, message, this.#current]);
    const isOnlyMessage = [...this.#results].every(
      ([other, result]) => result !== null || waiting.has(other),
    );
    if (!isOnlyMessage) this.#parked.push(message);
    return !isOnlyMessage;
  }

  #settle(message: StreamMessageContext, result: Result): void {
    if (this.#results.get(message) !== null) return; // it has a result or is over
    this.#results.set(message, result);
    this.#flush();
    const next = this.call.isEnding ? undefined : this.#parked.shift();
    if (!next) return;
    next.restart();
    this.#run(next);
  }

  /** Writes the results that are next in order. */
  #flush(): void {
    for (const [first, result] of this.#results) {
      if (result === null || this.call.isEnding) return;
      if ('status' in result) this.#fail(result.status);
      else this.#write(first, result.responses);
    }
  }

  #write(message: StreamMessageContext, responses: readonly Buffer[]): void {
    this.#results.delete(message);
    this.#written.add(message);
    const bytes = responses.reduce((sum, { length }) => sum + length, 0);
    this.#options.connections.responded(message, bytes);
    let left = responses.length;
    if (left === 0) this.#end(message, true);
    for (const response of responses) {
      this.call.sendMessage(response, (error) => {
        if (--left === 0 && !error) this.#guard(() => this.#end(message, true));
      });
    }
  }

  #end(message: StreamMessageContext, isAnswered: boolean): void {
    if (message.isOver) return;
    const { connections, pipeline, inFlight } = this.#options;
    this.#results.delete(message);
    this.#written.delete(message);
    try {
      const outcome = message.end(isAnswered);
      const isControl = message.isReceived && this.#handler.isControl?.(message.body as never);
      if (message.error || !isControl) pipeline.report(message, outcome);
      connections.end(message);
      if (!this.call.isOver) this.#continue();
    } finally {
      inFlight.remove(); // always, since graceful shutdown waits for it
    }
  }

  /** Reads the next message, or ends the stream if it is complete. */
  #continue(): void {
    this.#reader.advance();
    if (this.#size > 0 || this.call.isEnding) return;
    if (this.#hasEnded) this.call.sendStatus(OK);
    else if (!this.#isDraining) this.#options.connections.markIdle(this.call);
    else this.#fail(new ServiceError('DRAINING', 'The service is shutting down.'));
  }

  /** Ends the stream. */
  #fail(error: ServiceError): void {
    this.#reader.stop();
    this.call.fail(error);
  }
}
