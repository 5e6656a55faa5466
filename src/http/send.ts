import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Request, Response } from 'express';
import { ByteBudget } from '../serving/byte-budget';
import type { Connections } from '../serving/connections';
import { CLIENT_TIMEOUT_MS } from '../serving/timeouts';

/** Smaller responses fit into one packet, and are not compressed. */
const MIN_COMPRESSED_BYTES = 1400;

const COMPRESSIONS = { gzip: promisify(zlib.gzip), deflate: promisify(zlib.deflate) } as const;

/**
 * Sends a JSON body. `response.json` of Express also negotiates content and computes ETags, which takes about 5 % of the
 * time of a request.
 */
export function sendJson(response: Response, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  endResponse(response, text);
}

/** Sends bytes, compressed on libuv's threads if `isCompressible` and the client accepts it. */
export function sendBytes(response: Response, bytes: Buffer, isCompressible = false): void {
  const encoding =
    isCompressible && bytes.length >= MIN_COMPRESSED_BYTES && encodingFor(response.req);
  if (encoding) {
    response.setHeader('Content-Encoding', encoding);
    response.vary('Accept-Encoding');
    COMPRESSIONS[encoding](bytes)
      .then((compressed) => sendBytes(response, compressed))
      .catch((error: Error) => response.destroy(error)); // the headers may have been sent
    return;
  }
  if (stateOf(response).isOver) return;
  response.setHeader('Content-Length', bytes.length);
  endResponse(response, bytes);
}

/**
 * Ends a response. The bytes that the client has not taken are limited in number and time. Responses of closed
 * connections are skipped: their 'close' event has passed, and they would be counted forever.
 */
export function endResponse(response: Response, body: string | Buffer | undefined): void {
  const { isOver, unsentResponses } = stateOf(response);
  if (isOver) return;
  response.end(body);
  unsentResponses.written(response);
}

/** The request context, without importing its module. */
function stateOf({ locals }: Response) {
  return locals as { readonly isOver: boolean; readonly unsentResponses: UnsentResponses };
}

function encodingFor(request: Request): keyof typeof COMPRESSIONS | null {
  if (request.headers['accept-encoding'] === undefined) return null;
  const encoding = request.acceptsEncodings(['gzip', 'deflate', 'identity']);
  return encoding === 'gzip' || encoding === 'deflate' ? encoding : null;
}

/** Limits the memory of responses that slow clients have not taken. */
export class UnsentResponses {
  readonly #budget: ByteBudget<Response>;
  readonly #abort: (response: Response) => boolean;

  /** @param memory maximum bytes of all unsent responses; above it, the oldest ones are aborted */
  constructor(memory: number, connections: Connections) {
    this.#abort = ({ req }) => connections.abort(req.socket, 'response_stalled');
    this.#budget = new ByteBudget({ limit: memory, holdTimeoutMs: 0, abort: this.#abort });
  }

  /** Called for every response that was written. */
  written(response: Response): void {
    const bytes = response.writableLength;
    if (bytes === 0) return; // taken by the kernel, as usual
    if (!this.#budget.hasRoomFor(bytes)) {
      this.#abort(response);
      return;
    }
    this.#budget.begin(response, bytes);
    const timer = setTimeout(this.#abort, CLIENT_TIMEOUT_MS, response).unref();
    response.on('close', () => {
      clearTimeout(timer);
      this.#budget.end(response);
    });
  }
}
