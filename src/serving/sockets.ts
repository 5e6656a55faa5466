import type net from 'node:net';
import type tls from 'node:tls';
import type { Logger } from 'pino';
import type { Connections } from './connections';
import { type Certificate, TLS_VERSION } from './credentials/certificate';
import type { Scheduler } from './scheduler';

/** How long a client may take for its TLS handshake, in ms. */
export const HANDSHAKE_TIMEOUT_MS = 20_000;
/** Connections that wait to be accepted; the kernel cuts it to net.core.somaxconn. */
const BACKLOG = 4096;

export interface Accepting {
  readonly connections: Connections;
  readonly scheduler: Scheduler;
  /** Beside `connections`. */
  readonly onClosed?: (socket: net.Socket) => void;
}

/**
 * Counts the connections of a server, and bounds how many there are. Those that have no place are closed.
 *
 * @param secure the same server; null: without TLS
 */
export function countConnections(
  server: net.Server,
  secure: tls.Server | null,
  { connections, scheduler, onClosed }: Accepting,
): void {
  const closed = (socket: net.Socket): void => {
    onClosed?.(socket);
    connections.closed(socket);
  };
  server.on('connection', (socket: net.Socket) => {
    scheduler.hurry();
    connections.opened(socket, secure !== null);
    socket.on('close', () => closed(socket));
  });
  secure?.prependListener('secureConnection', (socket) => {
    connections.secured(below(socket), socket);
    socket.on('close', () => closed(socket));
  });
  secure?.on('tlsClientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (code !== 'ECONNRESET') connections.cut(below(socket), 'tls_failed'); // else it has gone itself
  });
}

/**
 * Resolves with the address in use; rejects with the system's error, EADDRINUSE and others.
 *
 * @param at an address, or the descriptor of a socket that listens already
 */
export function listen(
  server: net.Server,
  at: net.ListenOptions | { readonly fd: number },
  logger: Logger,
): Promise<net.AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...at, backlog: BACKLOG }, () => {
      server.off('error', reject);
      // A connection that could not be accepted: no descriptor is left (EMFILE). It is no reason to end.
      server.on('error', (error) => {
        logger.warn({ err: error }, 'a connection could not be accepted');
      });
      resolve(server.address() as net.AddressInfo);
    });
  });
}

export function secureContextOf({ cert, key }: Certificate): tls.SecureContextOptions {
  return { cert, key, minVersion: TLS_VERSION };
}

/** The TCP connection under a TLS one, for which Node has no public name. */
function below(socket: tls.TLSSocket): net.Socket {
  return (socket as tls.TLSSocket & { readonly _parent: net.Socket })._parent;
}
