import { byLabel, counter, type Family, type Sample } from './family';
import { DURATION_BOUNDS, Histogram } from './histogram';

/** How one HTTP request ended, as its log line says. */
export interface EndedRequest {
  /** The path of the route that matched, never what the client wrote; null: none did. */
  readonly route: string | null;
  /** 499: the client went before its answer was out. */
  readonly status: number;
  readonly durationMs: number;
  /** Why it was refused for now (503, or what a protocol has in its place); null: it was not. */
  readonly refusal: Refusal | null;
}

export type Refusal =
  | 'body_memory_full'
  | 'deadline'
  | 'draining'
  | 'pipeline_full'
  | 'queue_full'
  | 'queue_wait';

interface Route {
  /** Requests by status. */
  readonly statuses: Map<number, number>;
  /** Seconds. */
  readonly duration: Histogram;
}

/** The label of requests that matched no route. */
const UNMATCHED = 'unmatched';

/** Statuses of answers to what Node's HTTP parser refuses (see HttpServer). */
export type InvalidStatus = 400 | 408 | 431;

/** Counts requests as they end. */
export class RequestMetrics {
  readonly #routes = new Map<string, Route>();
  readonly #refused: Record<Refusal, number> = {
    body_memory_full: 0,
    deadline: 0,
    draining: 0,
    pipeline_full: 0,
    queue_full: 0,
    queue_wait: 0,
  };
  readonly #invalid: Record<InvalidStatus, number> = { 400: 0, 408: 0, 431: 0 };
  #cancelled = 0;
  #timedOut = 0;

  ended({ route, status, durationMs, refusal }: EndedRequest): void {
    const { statuses, duration } = this.#route(route ?? UNMATCHED);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    duration.observe(durationMs / 1000);
    if (status === 499) this.#cancelled++;
    else if (status === 504) this.#timedOut++;
    else if (refusal) this.#refused[refusal]++;
  }

  /** Something came that is no HTTP request, so it has no log line of its own either. */
  invalid(status: InvalidStatus): void {
    this.#invalid[status]++;
  }

  families(): readonly Family[] {
    return [
      counter(
        'libtorch_serve_http_requests_total',
        'HTTP requests that ended, by route and status; 499: the client went before its answer.',
        () => this.#requests(),
      ),
      {
        name: 'libtorch_serve_http_request_duration_seconds',
        help: 'From the arrival of the headers of a request to the end of its answer.',
        type: 'histogram',
        read: () => this.#durations('libtorch_serve_http_request_duration_seconds'),
      },
      counter(
        'libtorch_serve_http_requests_refused_total',
        'Requests refused for now (503, in some protocols 429), by reason.',
        () => byLabel('reason', this.#refused),
      ),
      counter(
        'libtorch_serve_http_requests_cancelled_total',
        'Requests whose client went before the answer was out.',
        () => [{ labels: {}, value: this.#cancelled }],
      ),
      counter(
        'libtorch_serve_http_requests_timed_out_total',
        'Requests answered 504: their deadline passed before the model ran, or it ran too long.',
        () => [{ labels: {}, value: this.#timedOut }],
      ),
      counter(
        'libtorch_serve_http_invalid_requests_total',
        'What the HTTP parser refused, by the status of the answer; not among the requests.',
        () => byLabel('status', this.#invalid),
      ),
    ];
  }

  #route(path: string): Route {
    let route = this.#routes.get(path);
    if (!route) {
      route = { statuses: new Map(), duration: new Histogram(DURATION_BOUNDS) };
      this.#routes.set(path, route);
    }
    return route;
  }

  #requests(): Sample[] {
    return [...this.#routes].flatMap(([route, { statuses }]) =>
      [...statuses].map(([status, value]) => ({ labels: { route, status }, value })),
    );
  }

  #durations(name: string): Sample[] {
    return [...this.#routes].flatMap(([route, { duration }]) => duration.samples(name, { route }));
  }
}
