import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { status } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import type { MessageHandler } from '../protocols/grpc-service';
import { RequestsInFlight } from '../serving/connections';
import { ServiceError } from '../serving/errors';
import type { Readiness } from '../serving/readiness';
import type { Outcome } from '../serving/request-context';
import { roundMs } from '../serving/request-context';
import type { RequestPipeline } from '../serving/request-pipeline';
import { messagesOf, missingMessage } from './call-messages';
import type { GrpcConnection, GrpcConnections } from './grpc-connections';
import { GrpcRequestContext, RESPONSE_HEADERS } from './grpc-request-context';
import { MessageReader } from './message-reader';
import { type GrpcRoute, parseMessage, readable } from './routes';
import { MessageStream } from './streams/message-stream';

export interface CallsOptions {
  readonly readiness: Readiness;
  readonly pipeline: RequestPipeline;
  readonly connections: GrpcConnections;
  readonly logger: Logger;
  /** Methods by path. */
  readonly routes: ReadonlyMap<string, GrpcRoute>;
  /** Maximum bytes of a message. */
  readonly maxMessageBytes: number;
}

/** The open calls. Each passes through the pipeline. */
export class Calls {
  readonly #options: CallsOptions;
  /** Requests without a complete response: unary calls, and messages of request streams. */
  readonly #inFlight = new RequestsInFlight();
  readonly #streams = new Map<GrpcRequestContext, MessageStream>();
  /** Cleanup of open health watches and reflection streams. */
  readonly #duplexes = new Map<GrpcRequestContext, { destroy(): void }>();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Number of requests in flight. */
  get size(): number {
    return this.#inFlight.size;
  }

  /** Number of open request streams. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Rejects new calls; resolves when all others have ended. @param timeoutMs see `GrpcConnections.drain` */
  drain(timeoutMs: number): Promise<void> {
    this.#options.connections.drain(timeoutMs);
    const drained = this.#inFlight.drain();
    for (const stream of this.#streams.values()) stream.drain();
    return drained;
  }

  /** Starts the call of a new HTTP/2 stream. Never throws. */
  begin(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, connection: GrpcConnection): void {
    stream.on('error', () => {}); // followed by 'close'
    try {
      const route = this.#options.routes.get(headers[':path'] ?? '');
      if (!headers['content-type']?.startsWith('application/grpc')) {
        const unsupported = constants.HTTP_STATUS_UNSUPPORTED_MEDIA_TYPE;
        stream.respond({ ':status': unsupported }, { endStream: true });
      } else if (route) this.#begin(route, stream, headers, connection);
      else respondUnimplemented(stream);
    } catch (error) {
      this.#options.pipeline.logUnexpected(error);
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  }

  #begin(
    route: GrpcRoute,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    connection: GrpcConnection,
  ): void {
    const { pipeline, connections, readiness, maxMessageBytes } = this.#options;
    const call = new GrpcRequestContext(stream, headers, {
      route,
      connection,
      connections,
      readiness,
      maxMessageBytes,
      arrivedWhileDraining: this.#inFlight.isDraining,
      onEnd: () => this.#end(call),
    });
    if (!call.isStream) this.#inFlight.add();
    try {
      connections.begin(call);
      pipeline.begin(call, () => {
        if (!route.isPublic) pipeline.checkDeadline(call, route.admissionError);
        this.#receive(call, route);
      });
    } catch (error) {
      call.reject(error as Error);
    }
  }

  #receive(call: GrpcRequestContext, route: GrpcRoute): void {
    const { handler } = route;
    const { connections, pipeline } = this.#options;
    if (!handler) throw new ServiceError('METHOD_NOT_ALLOWED', `${route.path}: not implemented`);
    switch (handler.kind) {
      case 'unary':
        this.#receiveMessage(call, route, handler.handle);
        break;
      case 'requests': {
        const { method, refusal } = handler;
        const inFlight = this.#inFlight;
        const options = { route, method, refusal, connections, pipeline, inFlight };
        const stream = new MessageStream(call, options);
        this.#streams.set(call, stream);
        stream.start();
        break;
      }
      case 'duplex': {
        const messages = messagesOf(call, route, connections);
        this.#duplexes.set(call, messages);
        handler.open(messages);
        break;
      }
    }
  }

  /** Reads the message of a unary call, which then continues in the pipeline. */
  #receiveMessage(call: GrpcRequestContext, route: GrpcRoute, handle: MessageHandler): void {
    const { connections, pipeline } = this.#options;
    let count = 0;
    const reader = new MessageReader(call, {
      isReady: () => true,
      onBegin: (prefix) => connections.beginMessage(call, prefix, ++count),
      onChunk: () => connections.countChunk(call),
      onMessage: (bytes) => {
        call.body = parseMessage(route, bytes);
      },
      onEnd: () => {
        if (call.body === undefined) throw missingMessage();
        connections.received(call);
        pipeline.respond(call, () => handle(readable(call.body), call));
      },
    });
    reader.advance();
  }

  /** Called when the status has been sent and when the stream has closed. */
  #end(call: GrpcRequestContext): void {
    if (call.isOver) return;
    const { connections, pipeline } = this.#options;
    try {
      const outcome = call.end();
      connections.end(call);
      const stream = this.#streams.get(call);
      if (stream) {
        stream.end();
        this.#logStream(stream, outcome);
      } else pipeline.report(call, outcome);
    } catch (error) {
      this.#options.pipeline.logUnexpected(error);
    } finally {
      this.#streams.delete(call);
      this.#duplexes.get(call)?.destroy();
      this.#duplexes.delete(call);
      if (!call.isStream) this.#inFlight.remove();
    }
  }

  /** Logs the end of a request stream, whose messages are counted and traced as requests. */
  #logStream({ call, count }: MessageStream, { method, route, status }: Outcome): void {
    const { requestId } = call;
    const durationMs = roundMs(performance.now() - call.startedAt);
    const line = { requestId, method, route, status, durationMs, messages: count };
    this.#options.logger.info(line, 'stream');
  }
}

function respondUnimplemented(stream: ServerHttp2Stream): void {
  const trailers = {
    'grpc-status': status.UNIMPLEMENTED,
    'grpc-message': 'The service does not have this method.',
  };
  stream.respond({ ...RESPONSE_HEADERS, ...trailers }, { endStream: true });
  stream.resume();
}
