import type { EngineError, Inference, InferOptions } from '../native/engine';
import type { Readiness } from '../serving/readiness';
import type { Counted } from './field-count';

/** What a method may ask of the call that it answers. */
export interface Call {
  readonly readiness: Readiness;
  /**
   * To be taken right before submitting: the deadline is the nearest of the client's, this one and the
   * service's.
   *
   * @param timeoutMs from the arrival of the call; null: it names none
   * @throws EngineError DEADLINE_EXCEEDED
   */
  readonly inferOptions: (timeoutMs: number | null) => InferOptions;
  /** What the engine said of each element, for the log, the metrics and the trailers. */
  readonly note: (inferences: readonly Inference[]) => void;
}

/** Messages are as @grpc/proto-loader makes them with `LOADING`. */
export type Method = (message: never, call: Call) => object | Promise<object>;

/** A service that is offered over gRPC, apart from how calls come and go. */
export interface GrpcService {
  /** With its package: `inference.GRPCInferenceService`. */
  readonly name: string;
  /** Absolute path of the folder, and the name in it. */
  readonly protos: { readonly folder: string; readonly file: string };
  /** By name, as in the protocol file; those of it that are missing are UNIMPLEMENTED. */
  readonly methods: Readonly<Record<string, Method>>;
  /** Methods that supervisors and load balancers ask, who have no key. */
  readonly probes: readonly string[];
  /** Methods that run the model. */
  readonly analyses: readonly string[];
  /** How many fields a message may have, and into which of them are counted, too (see `countFields`). */
  readonly fields: { readonly counted: Counted; readonly most: number };
  /** Why the engine would refuse what came now, with so much time left; null: it would not. */
  readonly refusal: (timeoutMs: number) => EngineError | null;
}

/** Fields are called as in the protocol files, and lists, maps and numbers are always there. */
export const LOADING = {
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
} as const;
