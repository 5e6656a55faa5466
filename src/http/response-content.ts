import { pipeline } from 'node:stream';
import type { Response } from 'express';
import type { ResponseContent } from '../serving/request-context';
import { CLIENT_TIMEOUT_MS } from '../serving/timeouts';

/**
 * Sends content while it is read, as fast as the client takes it. A client that takes nothing for `CLIENT_TIMEOUT_MS` is
 * disconnected. If reading fails, the connection is closed: the status has been sent.
 */
export function sendContent(response: Response, { bytes, open }: ResponseContent): void {
  if (response.destroyed) return;
  response.setHeader('Content-Length', bytes);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  const { socket } = response.req;
  let lastBytes = -1;
  const timer = setInterval(() => {
    if (socket.bytesWritten === lastBytes) response.destroy();
    lastBytes = socket.bytesWritten;
  }, CLIENT_TIMEOUT_MS / 2).unref();
  pipeline(open(), response, () => clearInterval(timer));
}
