import type { InferOptions } from '../native/engine';
import type { Access } from './access';
import type { RequestHeader } from './header-names';
import type { Readiness } from './readiness';
import type { ModelRef, Parameters } from './request-context';

/** A request as handlers and services receive it, over HTTP or gRPC. */
export interface ServiceRequest {
  /** Parsed JSON, a Buffer or a Readable (`Route.body`), or a gRPC message. */
  readonly body: unknown;
  /** `performance.now()` when the request arrived. */
  readonly startedAt: number;
  readonly readiness: Readiness;
  /** Values of the `:parameter` segments of the path. */
  readonly parameters: Parameters;
  /** Query of the URL; empty over gRPC. */
  readonly query: URLSearchParams;
  /** Permissions of the client. */
  readonly access: Access;
  /** Identifies requests with the same API key; empty if no API keys are configured. */
  readonly owner: string;
  readonly requestId: string;
  /** Value of an HTTP header or of gRPC metadata. @param name in lower case */
  header(name: RequestHeader): string | undefined;
  /**
   * Options of an inference for this request: its cancellation and the time left until its deadline. Call it
   * right before the inference. The deadline is the earliest of `timeoutMs`, the client's and the server's.
   *
   * @param model the model that runs, for access control, the log and the metrics
   * @param timeoutMs from the arrival of the request; null: no deadline in the body
   * @throws EngineError DEADLINE_EXCEEDED; ServiceError FORBIDDEN: the API key does not include this model
   */
  inferOptions(model: ModelRef, timeoutMs?: number | null): InferOptions;
}
