import type { Socket } from 'node:net';
import { ServiceError } from '../errors';
import type { Connections } from '../http/connections';
import type { TrackedCall } from './tracked-call';

/** How often it is looked at what is held, in ms. */
const INTERVAL_MS = 100;
/** How long a client may take for its message, and as long for the answer, in ms; as over HTTP. */
const CLIENT_TIMEOUT_MS = 60_000;

interface Connection {
  readonly socket: Socket;
  /** Calls whose messages are on their way. */
  readonly receiving: Set<TrackedCall>;
  /** Calls that are not over. */
  open: number;
  /** `socket.bytesRead` where nothing of it was held, with the messages that have come whole since. */
  settledBytes: number;
}

export interface ReceivingLimits {
  /** Bytes of all messages that are on their way. */
  readonly bodyMemory: number;
  /** Bytes of one. */
  readonly bodyLimit: number;
}

/**
 * The connections of gRPC clients, and what is held of messages that have not come whole. grpc-js keeps
 * those where nobody can count them; what a connection has read since nothing of it was held is as much
 * at least.
 */
export class Receiving {
  readonly #connections: Connections;
  readonly #limits: ReceivingLimits;
  /** By the peer's address and port. */
  readonly #byPeer = new Map<string, Connection>();
  readonly #timer: NodeJS.Timeout;

  constructor(connections: Connections, limits: ReceivingLimits) {
    this.#connections = connections;
    this.#limits = limits;
    this.#timer = setInterval(this.#look, INTERVAL_MS).unref();
  }

  opened(socket: Socket): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    const connection = { socket, receiving: new Set<TrackedCall>(), open: 0, settledBytes: 0 };
    this.#byPeer.set(peer, connection);
    socket.on('close', () => {
      // Another connection may have come from the same port already.
      if (this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer);
    });
  }

  begin(call: TrackedCall): void {
    const connection = this.#byPeer.get(call.peer);
    if (!connection) return;
    if (connection.receiving.size === 0) connection.settledBytes = connection.socket.bytesRead;
    connection.receiving.add(call);
    connection.open++;
    this.#connections.owes(connection.socket);
  }

  /** `bytes`: of its message. */
  received(call: TrackedCall, bytes: number): void {
    const connection = this.#byPeer.get(call.peer);
    if (connection?.receiving.delete(call)) connection.settledBytes += bytes;
  }

  end(call: TrackedCall): void {
    const connection = this.#byPeer.get(call.peer);
    if (!connection) return;
    connection.receiving.delete(call);
    if (--connection.open === 0) this.#connections.waits(connection.socket, null);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  readonly #look = (): void => {
    const late = performance.now() - CLIENT_TIMEOUT_MS;
    let held = 0;
    let largest: { readonly connection: Connection; readonly bytes: number } | null = null;
    for (const connection of this.#byPeer.values()) {
      for (const call of connection.receiving) {
        if (call.startedAt > late) break; // and so have those that follow
        const error = new ServiceError(
          'DEADLINE_EXCEEDED',
          'The message was not received in time.',
        );
        call.refuse(error, error);
      }
      const bytes = this.#heldBy(connection);
      held += bytes;
      if (bytes > (largest?.bytes ?? 0)) largest = { connection, bytes };
    }
    if (held > this.#limits.bodyMemory && largest) {
      this.#connections.cut(largest.connection.socket, 'body_stuck');
    }
  };

  #heldBy({ socket, receiving, settledBytes }: Connection): number {
    const most = receiving.size * this.#limits.bodyLimit;
    return Math.max(0, Math.min(most, socket.bytesRead - settledBytes));
  }
}
