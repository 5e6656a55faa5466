import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Request, Response } from 'express';
import { ByteBudget } from '../serving/byte-budget';
import type { Connections } from '../serving/connections';
import { CLIENT_TIMEOUT_MS } from '../serving/timeouts';

/** Smaller answers fit into a packet, and are left as they are. */
const LEAST_TO_COMPRESS = 1400;

const COMPRESSIONS = { gzip: promisify(zlib.gzip), deflate: promisify(zlib.deflate) } as const;

/**
 * What `response.json` does for this server, without what it leaves unused (content negotiation,
 * ETag, JSONP settings): about a twentieth of the cost of a request.
 */
export function sendJson(response: Response, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  endResponse(response, text);
}

/** Bytes as they are, or as the client wants them: compressed on threads of libuv's pool. */
export function sendBytes(response: Response, bytes: Buffer, isCompressible = false): void {
  const encoding = isCompressible && bytes.length >= LEAST_TO_COMPRESS && encodingFor(response.req);
  if (encoding) {
    response.setHeader('Content-Encoding', encoding);
    response.vary('Accept-Encoding');
    COMPRESSIONS[encoding](bytes)
      .then((compressed) => sendBytes(response, compressed))
      .catch((error: Error) => response.destroy(error)); // its head may be out: nothing else can be sent
    return;
  }
  if (stateOf(response).isOver) return; // the client has gone meanwhile
  response.setHeader('Content-Length', bytes.length);
  endResponse(response, bytes);
}

/**
 * The end of every answer: what its client does not take is bounded, in bytes and in time. One whose
 * connection has closed goes nowhere: it has been closed, too, and would be counted for ever.
 */
export function endResponse(response: Response, body: string | Buffer | undefined): void {
  const { isOver, unsentResponses } = stateOf(response);
  if (isOver) return;
  response.end(body);
  unsentResponses.written(response);
}

/** Of the exchange that it belongs to. */
function stateOf({ locals }: Response) {
  return locals as { readonly isOver: boolean; readonly unsentResponses: UnsentResponses };
}

function encodingFor(request: Request): keyof typeof COMPRESSIONS | null {
  if (request.headers['accept-encoding'] === undefined) return null;
  const encoding = request.acceptsEncodings(['gzip', 'deflate', 'identity']);
  return encoding === 'gzip' || encoding === 'deflate' ? encoding : null;
}

/** Answers that the kernel has not taken yet, because their clients read slowly or not at all. */
export class UnsentResponses {
  readonly #budget: ByteBudget<Response>;
  readonly #cut: (response: Response) => boolean;

  /** @param memory most bytes of all of them; beyond it, who has been at it for longest is cut off */
  constructor(memory: number, connections: Connections) {
    this.#cut = ({ req }) => connections.abort(req.socket, 'response_stalled');
    this.#budget = new ByteBudget({ limit: memory, patienceMs: 0, cut: this.#cut });
  }

  /** To be told of every answer that has been written. */
  written(response: Response): void {
    const bytes = response.writableLength;
    if (bytes === 0) return; // in the kernel: nearly all are
    if (!this.#budget.hasRoomFor(bytes)) {
      this.#cut(response);
      return;
    }
    this.#budget.begin(response, bytes);
    const timer = setTimeout(this.#cut, CLIENT_TIMEOUT_MS, response).unref();
    response.on('close', () => {
      clearTimeout(timer);
      this.#budget.end(response);
    });
  }
}
