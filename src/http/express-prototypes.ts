import http from 'node:http';
import type { Express } from 'express';

/**
 * Classes for `http.createServer` whose instances have Express's prototypes from the start. Express otherwise changes
 * the prototype of every request and response (lib/application.js, `app.handle`). V8 cannot cache property accesses on
 * such objects: this took a fifth of the event loop's time.
 *
 * @param acceptsUpgrade whether the server opens a WebSocket for a request with an Upgrade header
 */
export function expressPrototypes(
  app: Express,
  acceptsUpgrade: (request: http.IncomingMessage) => boolean,
): Pick<http.ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class IncomingMessage extends http.IncomingMessage {}
  class ServerResponse<
    Request extends http.IncomingMessage = http.IncomingMessage,
  > extends http.ServerResponse<Request> {}
  const prototypes = app as unknown as { request: object; response: object };
  Object.setPrototypeOf(IncomingMessage.prototype, prototypes.request);
  Object.setPrototypeOf(ServerResponse.prototype, prototypes.response);
  prototypes.request = IncomingMessage.prototype;
  prototypes.response = ServerResponse.prototype;
  ignoreOtherUpgrades(IncomingMessage.prototype, acceptsUpgrade);
  return { IncomingMessage, ServerResponse };
}

/**
 * Hides the Upgrade header of requests that the server does not upgrade. A Node server with an 'upgrade' listener
 * passes every request with that header to the listener, for example HTTP/2 upgrades on any path, with an unread body.
 * Answering such a request as if it had no Upgrade header is allowed (RFC 9110, 7.8). Node reads `request.upgrade`,
 * which it has set, when all headers are parsed (`parserOnIncoming` in lib/_http_server.js).
 */
function ignoreOtherUpgrades(
  prototype: http.IncomingMessage,
  acceptsUpgrade: (request: http.IncomingMessage) => boolean,
): void {
  const requested = Symbol('upgrade');
  interface UpgradeRequest extends http.IncomingMessage {
    [requested]?: unknown;
  }
  Object.defineProperty(prototype, 'upgrade', {
    get(this: UpgradeRequest): boolean {
      return Boolean(this[requested]) && acceptsUpgrade(this);
    },
    set(this: UpgradeRequest, value: unknown): void {
      this[requested] = value;
    },
  });
}
