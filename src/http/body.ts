import express, { type Request, type RequestHandler, type Response } from 'express';
import { type BodyLimits, ByteBudget, PIECE_BYTES, SMALL_BYTES } from '../serving/byte-budget';
import type { Connections } from '../serving/connections';
import { ServiceError } from '../serving/errors';
import { parseJson, requireJsonType } from '../serving/json';
import { HOLD_TIMEOUT_MS } from '../serving/timeouts';
import { requestContextOf } from './http-request-context';
import { readZstdBody } from './zstd-body';

/** Maximum number of unanswered requests of a connection. */
const MAX_PIPELINED = 128;

/**
 * Reads request bodies, and limits the memory of bodies that are being received (BODY_MEMORY): otherwise thousands of
 * slow clients, each with a nearly complete body, would hold gigabytes.
 */
export class BodyReader {
  readonly #limit: number;
  readonly #plain: ByteBudget<Response>;
  /** Separate budget: the size of a compressed body is not known, and counted as BODY_LIMIT. */
  readonly #compressed: ByteBudget<Response>;

  constructor({ bodyMemory, bodyLimit }: BodyLimits, connections: Connections) {
    this.#limit = bodyLimit;
    const budget = {
      limit: bodyMemory,
      holdTimeoutMs: HOLD_TIMEOUT_MS,
      abort: ({ req }: Response) => !req.complete && connections.abort(req.socket, 'body_stalled'),
    };
    this.#plain = new ByteBudget(budget);
    this.#compressed = new ByteBudget(budget);
  }

  /** Middleware that reads the body into a Buffer, `request.body`; a missing body becomes an empty one. */
  middleware(kind: 'json' | 'bytes'): readonly RequestHandler[] {
    const read = this.#read();
    return kind === 'json' ? [this.#reserveMemory, requireJson, read] : [this.#reserveMemory, read];
  }

  /** The body that `middleware` has read; its memory is no longer counted. @throws ServiceError BODY_INVALID */
  take(request: Request, response: Response, kind: 'json' | 'bytes'): unknown {
    const bytes: unknown = request.body;
    request.body = undefined;
    const body = kind === 'bytes' ? bytes : parseJson(bytes);
    if (requestContextOf(response).hasReservedMemory) this.#release(response);
    return body;
  }

  #release(response: Response): void {
    this.#plain.end(response);
    this.#compressed.end(response);
  }

  readonly #reserveMemory: RequestHandler = (request, response, next) => {
    if (requestContextOf(response).pipelined > MAX_PIPELINED) {
      throw new ServiceError(
        'PIPELINE_FULL',
        `This connection has more than ${MAX_PIPELINED} pending requests. Wait for their responses.`,
      );
    }
    const { 'content-length': length } = request.headers;
    const encoding = codingOf(request);
    const isCompressed = encoding !== 'identity';
    if (isCompressed && !ENCODINGS.has(encoding)) throw encodingUnsupported();
    if (!isCompressed && Number(length) <= SMALL_BYTES) {
      next();
      return;
    }
    const budget = isCompressed ? this.#compressed : this.#plain;
    const expected = isCompressed ? this.#limit : Math.min(Number(length ?? 0), this.#limit);
    if (!budget.hasRoomFor(expected)) throw full();
    requestContextOf(response).hasReservedMemory = true;
    budget.begin(response, isCompressed ? this.#limit : 0);
    response.on('close', () => this.#release(response));
    if (!isCompressed) {
      request.on('data', (chunk: Buffer) => {
        budget.add(response, chunk.length + PIECE_BYTES);
        if (budget.hasRoomFor(0, response)) return;
        budget.end(response);
        response.setHeader('Connection', 'close'); // the rest of the body is not read
        next(full());
      });
    }
    next();
  };

  /** Reads at most BODY_LIMIT bytes, after decompression. */
  #read(): RequestHandler {
    const read = express.raw({ type: () => true, limit: this.#limit });
    return (request, response, next) => {
      if (codingOf(request) === 'zstd') {
        readZstdBody(request, this.#limit).then((body) => {
          request.body = body;
          next();
        }, next);
        return;
      }
      read(request, response, (error?: unknown) => {
        if (error) return next(describe(error as BodyReaderError, this.#limit));
        request.body ??= Buffer.alloc(0);
        next();
      });
    };
  }
}

const ENCODINGS: ReadonlySet<string> = new Set(['gzip', 'deflate', 'br', 'zstd']);

function codingOf({ headers }: Request): string {
  return headers['content-encoding']?.toLowerCase() ?? 'identity';
}

/** Rejects bodies that are not JSON. A body without a Content-Type counts as JSON. */
const requireJson: RequestHandler = ({ headers }, _response, next) => {
  requireJsonType(headers['content-type']);
  next();
};

function encodingUnsupported(): ServiceError {
  return new ServiceError(
    'MEDIA_TYPE_UNSUPPORTED',
    'The Content-Encoding must be gzip, deflate, br, zstd or identity.',
  );
}

function full(): ServiceError {
  return new ServiceError(
    'BODY_MEMORY_FULL',
    'The memory for request bodies (BODY_MEMORY) is full. Try again later.',
  );
}

/** Error of body-parser and raw-body (body-parser 2, README, "Errors"). */
interface BodyReaderError extends Error {
  readonly type?: string;
  readonly status?: number;
}

function describe(error: BodyReaderError, limit: number): Error {
  switch (error.type) {
    case 'entity.too.large':
      return new ServiceError('BODY_TOO_LARGE', `The body exceeds the limit of ${limit} bytes.`);
    case 'encoding.unsupported':
      return encodingUnsupported();
    case 'request.aborted':
      return new ServiceError('CANCELLED', 'The client disconnected.');
  }
  // Other errors with a 4xx status come from reading or inflating the body.
  return error.status !== undefined && error.status < 500
    ? new ServiceError('BODY_INVALID', 'body: cannot be decoded with its Content-Encoding')
    : error;
}
