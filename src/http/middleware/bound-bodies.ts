import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ByteBudget, PIECE_BYTES } from '../../serving/byte-budget';
import type { Connections } from '../../serving/connections';
import { ServiceError } from '../../serving/errors';
import { exchangeOf } from '../exchange';

/** How long a body may take before it is cut off where there is no room for others, in ms. */
const PATIENCE_MS = 1000;
/**
 * Bodies that say they are no larger always have room: those of nearly all requests, so that senders of
 * large ones do not keep them out. A connection has one body on its way, so MAX_CONNECTIONS bounds them.
 */
const SMALL_BYTES = 16 * 1024;
/** Requests of one connection that are worked on at once. */
const MAX_PIPELINED = 128;

export interface BodyBounds {
  /** Bytes of all bodies that are on their way, and as many of compressed ones. */
  readonly bodyMemory: number;
  /** Bytes of one, as it is when it is no longer compressed. */
  readonly bodyLimit: number;
}

/**
 * Bounds what is held of bodies that are on their way: thousands of slow senders, each with nearly a
 * whole body, would be gigabytes. `hold` stands before what reads the body, `release` behind it.
 */
export function boundBodies(
  { bodyMemory, bodyLimit }: BodyBounds,
  connections: Connections,
): { readonly hold: RequestHandler; readonly release: RequestHandler } {
  // Two, because of a compressed body nobody knows how much is held: it counts as large as it may be.
  const plain = new ByteBudget<Response>({ limit: bodyMemory, patienceMs: PATIENCE_MS });
  const compressed = new ByteBudget<Response>({ limit: bodyMemory, patienceMs: PATIENCE_MS });

  function end(this: Response): void {
    plain.end(this);
    compressed.end(this);
  }

  const hold = (request: Request, response: Response, next: NextFunction): void => {
    const { socket } = request;
    if (exchangeOf(response).pipelined > MAX_PIPELINED) {
      throw new ServiceError(
        'PIPELINE_FULL',
        `Over ${MAX_PIPELINED} requests of this connection are not answered yet.`,
      );
    }
    const { 'content-encoding': encoding = 'identity', 'content-length': length } = request.headers;
    const isCompressed = encoding !== 'identity';
    if (!isCompressed && Number(length) <= SMALL_BYTES) {
      next();
      return;
    }
    const budget = isCompressed ? compressed : plain;
    const expected = isCompressed ? bodyLimit : Math.min(Number(length ?? 0), bodyLimit);
    if (!budget.hasRoomFor(expected)) throw full();
    budget.begin(response, isCompressed ? bodyLimit : 0, () => {
      if (request.complete) return false;
      connections.cut(socket, 'body_stuck');
      return true;
    });
    response.on('close', end);
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

  const release = (_request: Request, response: Response, next: NextFunction): void => {
    end.call(response);
    if (!response.headersSent) next();
  };
  return { hold, release };
}

function full(): ServiceError {
  return new ServiceError('BODY_MEMORY_FULL', 'Too many bodies are on their way.');
}
