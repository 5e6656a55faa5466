import type { handleUnaryCall, Server, ServerWritableStream } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { service } from 'grpc-health-check';
import type { Readiness } from '../serving/readiness';

export const HEALTH_SERVICE = 'grpc.health.v1.Health';

/** How often those who watch are told of a change, in ms. */
const INTERVAL_MS = 1000;

const TOO_MANY = 'Others want to watch: this watch was the oldest of as many as there may be.';

interface Question {
  readonly service: string;
}

interface Answer {
  readonly status: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
}

type Watcher = ServerWritableStream<Question, Answer>;

/**
 * The health service of gRPC (health/v1/health.proto). Not the implementation of grpc-health-check: that
 * one keeps every name that was ever watched, for which nobody needs a key.
 */
export class Health {
  readonly #services: ReadonlySet<string>;
  readonly #readiness: Readiness;
  readonly #mostWatchers: number;
  /** What each was told last; from the one that has watched for longest on. */
  readonly #watchers = new Map<Watcher, Answer['status']>();
  #timer: NodeJS.Timeout | null = null;

  /**
   * @param services that are ready when the whole is, by name
   * @param mostWatchers one more ends the one that has watched for longest
   */
  constructor(services: readonly string[], readiness: Readiness, mostWatchers: number) {
    this.#services = new Set(['', ...services]);
    this.#readiness = readiness;
    this.#mostWatchers = mostWatchers;
  }

  addTo(server: Server): void {
    server.addService(service, { check: this.#check, list: this.#list, watch: this.#watch });
  }

  /** Tells those who watch what has changed. */
  readonly tell = (): void => {
    for (const [watcher, told] of this.#watchers) {
      const now = this.#statusOf(watcher.request);
      if (now === told) continue;
      this.#watchers.set(watcher, now);
      watcher.write({ status: now });
    }
  };

  #statusOf(question: Question): Answer['status'] {
    if (!this.#services.has(question.service)) return 'SERVICE_UNKNOWN';
    return this.#readiness() === null ? 'SERVING' : 'NOT_SERVING';
  }

  #endFirst(): void {
    const [first] = this.#watchers.keys();
    if (!first) return;
    this.#watchers.delete(first);
    first.emit('error', { code: status.UNAVAILABLE, details: TOO_MANY });
  }

  readonly #check: handleUnaryCall<Question, Answer> = (call, callback) => {
    const answer = this.#statusOf(call.request);
    if (answer !== 'SERVICE_UNKNOWN') callback(null, { status: answer });
    else callback({ code: status.NOT_FOUND, details: 'There is no such service here.' });
  };

  readonly #list: handleUnaryCall<unknown, object> = (_call, callback) => {
    const statuses = [...this.#services].map((name) => [
      name,
      { status: this.#statusOf({ service: name }) },
    ]);
    callback(null, { statuses: Object.fromEntries(statuses) });
  };

  readonly #watch = (call: Watcher): void => {
    const now = this.#statusOf(call.request);
    if (this.#watchers.size >= this.#mostWatchers) this.#endFirst();
    this.#watchers.set(call, now);
    call.write({ status: now });
    this.#timer ??= setInterval(this.tell, INTERVAL_MS).unref();
    call.on('cancelled', () => {
      this.#watchers.delete(call);
      if (this.#watchers.size > 0 || !this.#timer) return;
      clearInterval(this.#timer);
      this.#timer = null;
    });
  };
}
