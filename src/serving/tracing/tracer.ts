import type { EndedRequest } from '../metrics/request-metrics';
import type { Timings } from '../timings';
import type { Phase } from './phases';
import type { TraceContext } from './trace-context';

/** What a span says of a request: nothing that a client wrote but its ids. */
export interface TracedRequest {
  readonly ended: EndedRequest;
  /** Null: the trace begins here. */
  readonly parent: TraceContext | null;
  /** The header, as it came. */
  readonly tracestate: string | undefined;
  readonly method: string;
  readonly httpVersion: string;
  /** False: the client had gone. */
  readonly answered: boolean;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly phases: readonly Phase[];
  /** Null: nothing was computed. */
  readonly timings: Timings | null;
  /** Texts or windows that were computed. */
  readonly inputs: number;
}

/** Exports a span for each request, and one for each part of its time. */
export interface Tracer {
  /** Of a request that has ended; returns the ids of its span. */
  record(request: TracedRequest): Pick<TraceContext, 'traceId' | 'spanId'>;
  /**
   * Exports what has not been yet. False: that still goes on after `timeoutMs`, and would keep the
   * process alive.
   */
  close(timeoutMs: number): Promise<boolean>;
}
