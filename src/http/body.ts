import express, { type RequestHandler, type Response } from 'express';
import { type BodyLimits, ByteBudget, PIECE_BYTES, SMALL_BYTES } from '../serving/byte-budget';
import type { Connections } from '../serving/connections';
import { ServiceError } from '../serving/errors';
import { PATIENCE_MS } from '../serving/timeouts';
import { requestContextOf } from './http-request-context';

/** Requests of one connection that are worked on at once. */
const MAX_PIPELINED = 128;

/** `application/json` or `application/<anything>+json`, and what follows. */
const JSON_MEDIA_TYPE = /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;

/**
 * Reads bodies, and bounds what is held of those that are on their way: thousands of slow senders, each
 * with nearly a whole body, would be gigabytes.
 */
export class BodyReader {
  readonly #limit: number;
  // Two, because of a compressed body nobody knows how much is held: it counts as large as it may be.
  readonly #plain: ByteBudget<Response>;
  readonly #compressed: ByteBudget<Response>;

  constructor({ bodyMemory, bodyLimit }: BodyLimits, connections: Connections) {
    this.#limit = bodyLimit;
    const budget = {
      limit: bodyMemory,
      patienceMs: PATIENCE_MS,
      cut: ({ req }: Response) => !req.complete && connections.abort(req.socket, 'body_stalled'),
    };
    this.#plain = new ByteBudget(budget);
    this.#compressed = new ByteBudget(budget);
  }

  /** What stands before an endpoint: `request.body` is a Buffer then, of no body an empty one. */
  before(kind: 'json' | 'bytes'): readonly RequestHandler[] {
    const read = this.#read();
    return kind === 'json' ? [this.#hold, requireJson, read] : [this.#hold, read];
  }

  /** It is not held any longer. */
  readonly release = (response: Response): void => {
    this.#plain.end(response);
    this.#compressed.end(response);
  };

  readonly #hold: RequestHandler = (request, response, next) => {
    if (requestContextOf(response).pipelined > MAX_PIPELINED) {
      throw new ServiceError(
        'PIPELINE_FULL',
        `Over ${MAX_PIPELINED} requests of this connection are not answered yet.`,
      );
    }
    const { 'content-encoding': coding = 'identity', 'content-length': length } = request.headers;
    const encoding = coding.toLowerCase();
    const isCompressed = encoding !== 'identity';
    if (isCompressed && !ENCODINGS.has(encoding)) throw encodingUnsupported();
    if (!isCompressed && Number(length) <= SMALL_BYTES) {
      next();
      return;
    }
    const budget = isCompressed ? this.#compressed : this.#plain;
    const expected = isCompressed ? this.#limit : Math.min(Number(length ?? 0), this.#limit);
    if (!budget.hasRoomFor(expected)) throw full();
    budget.begin(response, isCompressed ? this.#limit : 0);
    response.on('close', () => this.release(response));
    if (!isCompressed) {
      request.on('data', (chunk: Buffer) => {
        budget.add(response, chunk.length + PIECE_BYTES);
        if (budget.hasRoomFor(0, response)) return;
        budget.end(response);
        response.setHeader('Connection', 'close'); // the rest of the body is not to come
        next(full());
      });
    }
    next();
  };

  /** At most `bodyLimit` bytes, after decompression. */
  #read(): RequestHandler {
    const read = express.raw({ type: () => true, limit: this.#limit });
    return (request, response, next) => {
      read(request, response, (error?: unknown) => {
        if (error) return next(describe(error as BodyReaderError, this.#limit));
        request.body ??= Buffer.alloc(0);
        next();
      });
    };
  }
}

/** Without zstd, which body-parser reads only on releases of Node.js that have it. */
const ENCODINGS: ReadonlySet<string> = new Set(['gzip', 'deflate', 'br']);

/** A body without a Content-Type is taken for JSON. */
const requireJson: RequestHandler = (request, _response, next) => {
  const type = request.headers['content-type'];
  if (!type || type === 'application/json') return next();
  if (!JSON_MEDIA_TYPE.test(type)) {
    throw new ServiceError('MEDIA_TYPE_UNSUPPORTED', 'The Content-Type must be application/json.');
  }
  const charset = CHARSET.exec(type)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new ServiceError('MEDIA_TYPE_UNSUPPORTED', 'The charset of JSON must be utf-8.');
  }
  next();
};

function encodingUnsupported(): ServiceError {
  return new ServiceError(
    'MEDIA_TYPE_UNSUPPORTED',
    'The Content-Encoding must be gzip, deflate, br or identity.',
  );
}

function full(): ServiceError {
  return new ServiceError('BODY_MEMORY_FULL', 'Too many bodies are on their way.');
}

/** What body-parser and raw-body attach to their errors (body-parser 2, README, "Errors"). */
interface BodyReaderError extends Error {
  readonly type?: string;
  readonly status?: number;
}

function describe(error: BodyReaderError, limit: number): Error {
  switch (error.type) {
    case 'entity.too.large':
      return new ServiceError('BODY_TOO_LARGE', `The body is over the limit of ${limit} bytes.`);
    case 'encoding.unsupported':
      return encodingUnsupported();
    case 'request.aborted':
      return new ServiceError('CANCELLED', 'The client has gone.');
  }
  // Of the errors left, those with a client's status come from reading or inflating the body.
  return error.status !== undefined && error.status < 500
    ? new ServiceError('BODY_INVALID', 'body: cannot be read as it is encoded')
    : error;
}
