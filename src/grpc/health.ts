import type { Duplex } from 'node:stream';
import { ServiceError } from '../serving/errors';
import type { Readiness } from '../serving/readiness';
import type { RouteHandler } from './routes';

/** Interval at which watches are checked for changes, in ms. */
const INTERVAL_MS = 1000;

const EVICTED = 'Too many health watches are open: this watch was the oldest.';

interface HealthRequest {
  readonly service: string;
}

type HealthStatus = 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';

interface Watch {
  readonly service: string;
  /** Last status that was sent. */
  sent: HealthStatus;
}

/**
 * Health service of gRPC (health/v1/health.proto). Replaces HealthImplementation of grpc-health-check, which keeps every
 * service name that was ever watched, without authentication.
 */
export class Health {
  readonly #services: ReadonlySet<string>;
  readonly #readiness: Readiness;
  readonly #maxWatches: number;
  /** Open watches, oldest first. */
  readonly #watches = new Map<Duplex, Watch>();
  #timer: NodeJS.Timeout | null = null;

  /**
   * @param services names of the services, which are ready when the process is
   * @param maxWatches a further watch ends the oldest watch
   */
  constructor(services: readonly string[], readiness: Readiness, maxWatches: number) {
    this.#services = new Set(['', ...services]);
    this.#readiness = readiness;
    this.#maxWatches = maxWatches;
  }

  /** Handlers by method name. */
  get handlers(): Readonly<Record<string, RouteHandler>> {
    return {
      Check: { kind: 'unary', handle: (request: HealthRequest) => this.#check(request) },
      List: { kind: 'unary', handle: () => this.#list() },
      Watch: { kind: 'duplex', open: (messages) => this.#open(messages) },
    };
  }

  /** Sends changed statuses to all watches. */
  readonly notify = (): void => {
    for (const [messages, watch] of this.#watches) {
      const status = this.#statusOf(watch.service);
      if (status === watch.sent) continue;
      watch.sent = status;
      messages.write({ status });
    }
  };

  #statusOf(service: string): HealthStatus {
    if (!this.#services.has(service)) return 'SERVICE_UNKNOWN';
    return this.#readiness() === null ? 'SERVING' : 'NOT_SERVING';
  }

  #check({ service }: HealthRequest) {
    const status = this.#statusOf(service);
    if (status !== 'SERVICE_UNKNOWN') return { body: { status } };
    throw new ServiceError('NOT_FOUND', 'Service not found.');
  }

  #list() {
    const statuses = [...this.#services].map((name) => [name, { status: this.#statusOf(name) }]);
    return { body: { statuses: Object.fromEntries(statuses) } };
  }

  #open(messages: Duplex): void {
    messages.once('data', ({ service }: HealthRequest) => this.#watch(messages, service));
    messages.on('close', () => this.#close(messages));
  }

  #watch(messages: Duplex, service: string): void {
    const status = this.#statusOf(service);
    if (this.#watches.size >= this.#maxWatches) this.#evictOldest();
    this.#watches.set(messages, { service, sent: status });
    messages.write({ status });
    this.#timer ??= setInterval(this.notify, INTERVAL_MS).unref();
  }

  #evictOldest(): void {
    const [oldest] = this.#watches.keys();
    if (!oldest) return;
    this.#watches.delete(oldest);
    oldest.destroy(new ServiceError('NOT_READY', EVICTED));
  }

  #close(messages: Duplex): void {
    this.#watches.delete(messages);
    if (this.#watches.size > 0 || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
