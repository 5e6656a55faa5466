import type { EngineError } from '../native/engine';
import type { Answer } from '../serving/exchange';
import type { Call } from './endpoint';

/**
 * Which fields of a message are counted into: of those that are messages the same again, of packed
 * numbers `packed`. By field number, as the protocol file has it.
 */
export interface Counted {
  readonly [field: number]: Counted | 'packed';
}

/** Messages are as @grpc/proto-loader makes them with `LOADING` (grpc/server.ts). */
export type Method = (message: never, call: Call) => Answer | Promise<Answer>;

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
  /** Methods that load and unload models. */
  readonly management: readonly string[];
  /** How many fields a message may have, and into which of them are counted, too (see `countFields`). */
  readonly fields: { readonly counted: Counted; readonly most: number };
  /** Why the engine would refuse what came now, with so much time left; null: it would not. */
  readonly refusal: (timeoutMs: number) => EngineError | null;
}
