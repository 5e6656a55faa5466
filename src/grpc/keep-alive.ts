import type { ServerHttp2Session } from 'node:http2';

/** Interval of pings, and how long the client may take to respond, in ms. */
const PING_MS = 60_000;
const PONG_MS = 20_000;

/** Closes a session whose client does not respond to pings, or that has had no stream for `idleMs`. */
export function keepAlive(session: ServerHttp2Session, idleMs: number): void {
  let streams = 0;
  let idle: NodeJS.Timeout;
  let pong: NodeJS.Timeout | undefined;
  const startIdle = (): void => {
    idle = setTimeout(() => session.close(), idleMs).unref();
  };
  const ping = setInterval(() => {
    if (session.destroyed || session.closed) return;
    pong = setTimeout(() => session.destroy(), PONG_MS).unref();
    session.ping(() => clearTimeout(pong));
  }, PING_MS).unref();
  startIdle();
  session.on('stream', (stream) => {
    streams++;
    clearTimeout(idle);
    stream.on('close', () => {
      if (--streams === 0 && !session.closed) startIdle();
    });
  });
  session.on('close', () => {
    clearInterval(ping);
    clearTimeout(idle);
    clearTimeout(pong);
  });
}
