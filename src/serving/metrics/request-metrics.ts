import { ERRORS, type RejectionReason } from '../errors';
import { byLabel, counter, type Family, zeros } from './family';
import { DURATION_BOUNDS, Histogram, histogram } from './histogram';

/** How one HTTP request ended, as its log line says. */
export interface EndedRequest {
  /** The path of the route that matched, never what the client wrote; null: none did. */
  readonly route: string | null;
  /** The route was removed while the request was answered. */
  readonly isRouteRemoved?: boolean | undefined;
  /** 499: the client went before its answer was out. */
  readonly status: number;
  readonly durationMs: number;
  /** Why it was refused for now (503, or what a protocol has in its place); null: it was not. */
  readonly refusal: RejectionReason | null;
}

interface Route {
  /** Requests by status. */
  readonly statuses: Map<number, number>;
  /** Seconds. */
  readonly duration: Histogram;
}

/** The label of requests that matched no route. */
const UNMATCHED = 'unmatched';
/** The label of requests whose route was removed while they were answered. */
const REMOVED = 'removed';

/** Statuses of answers to what Node's HTTP parser refuses (see HttpServer). */
const INVALID = [400, 408, 431] as const;
export type InvalidStatus = (typeof INVALID)[number];

/** Counts requests as they end. */
export class RequestMetrics {
  readonly #routes = new Map<string, Route>();
  readonly #refused = zeros(
    Object.values(ERRORS).flatMap(({ refusal }) => refusal ?? ([] as RejectionReason[])),
  );
  readonly #invalid = zeros(INVALID);
  #cancelled = 0;
  #timedOut = 0;

  ended({ route, isRouteRemoved, status, durationMs, refusal }: EndedRequest): void {
    const { statuses, duration } = this.#route(isRouteRemoved ? REMOVED : (route ?? UNMATCHED));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    duration.observe(durationMs / 1000);
    if (status === 499) this.#cancelled++;
    else if (status === 504) this.#timedOut++;
    else if (refusal) this.#refused[refusal]++;
  }

  /** Ends the series of routes that are removed; they begin at 0 if the routes come back. */
  forget(routes: Iterable<string>): void {
    for (const route of routes) this.#routes.delete(route);
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
        () =>
          [...this.#routes].flatMap(([route, { statuses }]) =>
            [...statuses].map(([status, value]) => ({ labels: { route, status }, value })),
          ),
      ),
      histogram(
        'libtorch_serve_http_request_duration_seconds',
        'From the arrival of the headers of a request to the end of its answer.',
        () => [...this.#routes.values()].map(({ duration }) => duration),
      ),
      counter(
        'libtorch_serve_http_requests_refused_total',
        'Requests refused for now (503, in some protocols 429), by reason.',
        () => byLabel('reason', this.#refused),
      ),
      counter(
        'libtorch_serve_http_requests_cancelled_total',
        'Requests whose client went before the answer was out.',
        () => this.#cancelled,
      ),
      counter(
        'libtorch_serve_http_requests_timed_out_total',
        'Requests answered 504: their deadline passed before the model ran, or it ran too long.',
        () => this.#timedOut,
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
      route = { statuses: new Map(), duration: new Histogram(DURATION_BOUNDS, { route: path }) };
      this.#routes.set(path, route);
    }
    return route;
  }
}
