import type { Outcome, RequestContext } from '../request-context';
import type { TraceContext } from './trace-context';

/** Exports a span per request and a child span per phase. Spans contain no data from clients except trace ids. */
export interface Tracer {
  /**
   * Records a request that has ended.
   *
   * @param parent trace context of the caller; null: the trace starts here
   * @returns the ids of its span
   */
  record(
    context: RequestContext,
    outcome: Outcome,
    request: { readonly durationMs: number; readonly parent: TraceContext | null },
  ): Pick<TraceContext, 'traceId' | 'spanId'>;
  /** Exports the remaining spans. False: the export still runs after `timeoutMs`, and keeps the process alive. */
  close(timeoutMs: number): Promise<boolean>;
}
