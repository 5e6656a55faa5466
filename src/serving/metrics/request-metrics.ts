import { ERRORS, type RejectionReason } from '../errors';
import { byLabel, counter, type Family, zeros } from './family';
import { DURATION_BOUNDS, Histogram, histogram } from './histogram';

/** Outcome of a request. */
export interface EndedRequest {
  /** Path of the route, not of the request; null: no route matched. */
  readonly route: string | null;
  /** True if the route was removed during the request. */
  readonly isRouteRemoved?: boolean | undefined;
  /** 499: the client closed the connection before the response was sent. */
  readonly status: number;
  readonly durationMs: number;
  /** Reason of a temporary rejection (503, in some protocols 429); null: not rejected. */
  readonly rejection: RejectionReason | null;
}

interface Route {
  /** Requests by status. */
  readonly statuses: Map<number, number>;
  /** In seconds. */
  readonly duration: Histogram;
}

/** Label of requests without a route. */
const UNMATCHED = 'unmatched';
/** Label of requests whose route was removed during the request. */
const REMOVED = 'removed';

/** Statuses of requests that the HTTP parser of Node rejects (see HttpServer). */
const INVALID = [400, 408, 431] as const;
export type InvalidStatus = (typeof INVALID)[number];

/** Counts requests as they end. */
export class RequestMetrics {
  readonly #routes = new Map<string, Route>();
  readonly #rejected = zeros(
    Object.values(ERRORS).flatMap(({ rejection }) => rejection ?? ([] as RejectionReason[])),
  );
  readonly #invalid = zeros(INVALID);
  #cancelled = 0;
  #timedOut = 0;

  ended({ route, isRouteRemoved, status, durationMs, rejection }: EndedRequest): void {
    const { statuses, duration } = this.#route(isRouteRemoved ? REMOVED : (route ?? UNMATCHED));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    duration.observe(durationMs / 1000);
    if (status === 499) this.#cancelled++;
    else if (status === 504) this.#timedOut++;
    else if (rejection) this.#rejected[rejection]++;
  }

  /** Deletes the series of removed routes. They restart at 0 if the routes are added again. */
  forget(routes: Iterable<string>): void {
    for (const route of routes) this.#routes.delete(route);
  }

  /** Counts bytes that are not a valid HTTP request. They have no log line. */
  invalid(status: InvalidStatus): void {
    this.#invalid[status]++;
  }

  families(): readonly Family[] {
    return [
      counter(
        'libtorch_serve_http_requests_total',
        'Requests by route and status; 499: the client closed the connection before the response.',
        () =>
          [...this.#routes].flatMap(([route, { statuses }]) =>
            [...statuses].map(([status, value]) => ({ labels: { route, status }, value })),
          ),
      ),
      histogram(
        'libtorch_serve_http_request_duration_seconds',
        'Time from the arrival of the request headers to the end of the response.',
        () => [...this.#routes.values()].map(({ duration }) => duration),
      ),
      counter(
        'libtorch_serve_http_requests_rejected_total',
        'Temporarily rejected requests (503, in some protocols 429) by reason.',
        () => byLabel('reason', this.#rejected),
      ),
      counter(
        'libtorch_serve_http_requests_cancelled_total',
        'Requests whose client closed the connection before the response.',
        () => this.#cancelled,
      ),
      counter(
        'libtorch_serve_http_requests_timed_out_total',
        'Requests with status 504: the deadline passed before the model ran, or the model ran too long.',
        () => this.#timedOut,
      ),
      counter(
        'libtorch_serve_http_invalid_requests_total',
        'Invalid requests that the HTTP parser rejected, by status; not included in the requests.',
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
