import type net from 'node:net';
import type tls from 'node:tls';
import type { Logger } from 'pino';
import type { Connections } from './connections';
import { type Certificate, TLS_VERSION } from './credentials/certificate';
import type { ServerContext } from './server-context';

/** Maximum time for a TLS handshake, in ms. */
const HANDSHAKE_TIMEOUT_MS = 20_000;
/** Connections that wait to be accepted; the kernel limits it to net.core.somaxconn. */
const BACKLOG = 4096;

/** `host` undefined: all interfaces. */
export interface ListenAt {
  readonly port: number;
  readonly host: string | undefined;
}

/** Creates the server of a transport, without TLS and with it. */
export interface ServerFactory<Server> {
  readonly plain: () => Server;
  readonly secure: (options: tls.TlsOptions) => Server & tls.Server;
}

/** A port, with or without TLS, and its connections. */
export abstract class Transport<Server extends net.Server = net.Server> {
  readonly connections: Connections;
  protected readonly server: Server;
  /** The server if TLS is on, else null. */
  protected readonly secure: (Server & tls.Server) | null;
  readonly #logger: Logger;
  /** TCP connections during their TLS handshake, by `peerOf`. */
  readonly #handshakes = new Map<string, net.Socket>();

  constructor(context: ServerContext, connections: Connections, make: ServerFactory<Server>) {
    const { credentials, scheduler, logger } = context;
    const { certificate } = credentials;
    this.connections = connections;
    this.#logger = logger;
    this.secure =
      certificate &&
      make.secure({ ...secureContextOf(certificate), handshakeTimeout: HANDSHAKE_TIMEOUT_MS });
    this.server = this.secure ?? make.plain();
    this.server.on('connection', (socket: net.Socket) => {
      scheduler.onNewConnection();
      connections.opened(socket, this.secure !== null);
      socket.on('close', () => this.closed(socket));
      if (this.secure) this.#startHandshake(socket);
    });
    this.secure?.prependListener('secureConnection', (secure) => {
      const socket = this.#handshakes.get(peerOf(secure));
      if (socket) connections.secured(socket, secure);
      secure.on('close', () => this.closed(secure));
    });
    this.secure?.on('tlsClientError', ({ code }: NodeJS.ErrnoException, secure) => {
      const socket = this.#handshakes.get(peerOf(secure));
      // After ECONNRESET the client has closed the connection itself.
      if (socket && code !== 'ECONNRESET') connections.abort(socket, 'tls_failed');
    });
  }

  /** Number of requests without a complete response. */
  abstract get size(): number;

  /** Starts the shutdown: requests are still accepted, clients should disconnect. */
  abstract leave(): void;

  /**
   * Stops accepting connections and rejects new requests. Resolves when all other requests have their response and all
   * connections are closed.
   *
   * @param timeoutMs maximum time to wait for clients; a client without progress is aborted after one second
   */
  abstract close(timeoutMs: number): Promise<void>;

  /** Resolves with the address in use; rejects with the system's error, EADDRINUSE and others. */
  listen(at: ListenAt): Promise<net.AddressInfo> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ ...at, backlog: BACKLOG }, () => {
        this.server.off('error', reject);
        // No file descriptor is left for a connection (EMFILE): the service continues.
        this.server.on('error', (error) => {
          this.#logger.warn({ err: error }, 'accepting a connection failed');
        });
        resolve(this.server.address() as net.AddressInfo);
      });
    });
  }

  /** Replaces the certificate for new connections. */
  renew(certificate: Certificate): void {
    this.secure?.setSecureContext(secureContextOf(certificate));
  }

  #startHandshake(socket: net.Socket): void {
    const peer = peerOf(socket);
    this.#handshakes.set(peer, socket);
    socket.on('close', () => {
      if (this.#handshakes.get(peer) === socket) this.#handshakes.delete(peer);
    });
  }

  protected closed(socket: net.Socket): void {
    this.connections.closed(socket);
  }
}

function secureContextOf({ cert, key }: Certificate): tls.SecureContextOptions {
  return { cert, key, minVersion: TLS_VERSION };
}

/** Addresses of a connection, which its TCP socket and its TLS socket have in common. */
function peerOf({ remoteAddress, remotePort, localAddress }: net.Socket): string {
  return `${remoteAddress}:${remotePort} ${localAddress}`;
}
