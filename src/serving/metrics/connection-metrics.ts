import { byLabel, counter, type Family, gauge } from './family';

/**
 * Why the service ended a connection that its client had not: it was the one that had waited for its
 * client for longest when all were in use; all were in use and owed an answer; its body had come
 * slowest when those on their way filled the memory for them; its answer was not taken; its TLS handshake
 * failed or took too long.
 */
export type ConnectionEnd = 'made_room' | 'refused' | 'body_stuck' | 'answer_stuck' | 'tls_failed';

/** Counts connections. */
export class ConnectionMetrics {
  readonly #ends: Record<ConnectionEnd, number> = {
    made_room: 0,
    refused: 0,
    body_stuck: 0,
    answer_stuck: 0,
    tls_failed: 0,
  };

  readonly ended = (end: ConnectionEnd): void => {
    this.#ends[end]++;
  };

  families(open: () => number): readonly Family[] {
    return [
      gauge('libtorch_serve_http_connections', 'Open connections.', open),
      counter(
        'libtorch_serve_http_connections_cut_total',
        'Connections that the service ended because of their clients or for want of room, by reason.',
        () => byLabel('reason', this.#ends),
      ),
    ];
  }
}
