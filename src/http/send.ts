import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';
import type { Handler } from '../protocols/endpoint';
import { roundMs, type Timings } from '../serving/timings';
import { exchangeOf } from './exchange';

/** Smaller answers fit into a packet, and are left as they are. */
const LEAST_TO_COMPRESS = 1400;

const COMPRESSIONS = { gzip: promisify(zlib.gzip), deflate: promisify(zlib.deflate) } as const;

/** An endpoint, or what answers GET, as Express wants it. */
export function answerWith(handle: Handler): RequestHandler {
  return async (_request, response) => {
    const exchange = exchangeOf(response);
    const { body, inferences, headers, isCompressible } = await handle(exchange);
    if (headers) for (const name in headers) response.setHeader(name, headers[name] as string);
    if (inferences) exchange.note(inferences);
    if (exchange.timings) setTimings(response, exchange.timings);
    if (Buffer.isBuffer(body)) await sendBytes(response, body, isCompressible);
    else sendJson(response, 200, body);
  };
}

/**
 * What `response.json` does for this server, without what it leaves unused (content negotiation,
 * ETag, JSONP settings): about a twentieth of the cost of a request.
 */
export function sendJson(response: Response, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  endWith(response, text);
}

/**
 * The end of every answer: what its client does not take is bounded, in bytes and in time. One whose
 * connection has closed goes nowhere: it has been closed, too, and would be counted for ever.
 */
export function endWith(response: Response, body: string | Buffer | undefined): void {
  const { isOver, unsentAnswers } = exchangeOf(response);
  if (isOver) return;
  response.end(body);
  unsentAnswers.written(response);
}

/** Where the time went, in ms. */
function setTimings(response: Response, timings: Timings): void {
  response.setHeader('X-Queue-Time', roundMs(timings.queueMs));
  response.setHeader('X-Tokenization-Time', roundMs(timings.tokenizationMs));
  response.setHeader('X-Inference-Time', roundMs(timings.inferenceMs));
  response.setHeader('X-Compute-Tokens', timings.tokens);
  if (timings.truncated) response.setHeader('X-Input-Truncated', 'true');
}

/** Bytes as they are, or as the client wants them: compressed on threads of libuv's pool. */
async function sendBytes(response: Response, bytes: Buffer, isCompressible = false): Promise<void> {
  const encoding = isCompressible && bytes.length >= LEAST_TO_COMPRESS && encodingFor(response.req);
  const sent = encoding ? await COMPRESSIONS[encoding](bytes) : bytes;
  if (exchangeOf(response).isOver) return; // the client has gone meanwhile
  if (encoding) {
    response.setHeader('Content-Encoding', encoding);
    response.vary('Accept-Encoding');
  }
  response.setHeader('Content-Length', sent.length);
  endWith(response, sent);
}

function encodingFor(request: Request): keyof typeof COMPRESSIONS | null {
  if (request.headers['accept-encoding'] === undefined) return null;
  const encoding = request.acceptsEncodings(['gzip', 'deflate', 'identity']);
  return encoding === 'gzip' || encoding === 'deflate' ? encoding : null;
}
