import type { Outcome, RequestContext } from '../request-context';
import type { TraceContext } from './trace-context';

export interface Traced {
  readonly durationMs: number;
  /** What the caller says of the trace; null: it begins here. */
  readonly parent: TraceContext | null;
}

/**
 * Exports a span for each request, and one for each part of its time. They say nothing that a client
 * wrote but its ids.
 */
export interface Tracer {
  /** Of a request that has ended; returns the ids of its span. */
  record(
    exchange: RequestContext,
    outcome: Outcome,
    traced: Traced,
  ): Pick<TraceContext, 'traceId' | 'spanId'>;
  /**
   * Exports what has not been yet. False: that still goes on after `timeoutMs`, and would keep the
   * process alive.
   */
  close(timeoutMs: number): Promise<boolean>;
}
