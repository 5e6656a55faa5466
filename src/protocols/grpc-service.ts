import type { EngineError } from '../native/engine';
import type { ServiceError } from '../serving/errors';
import type { ServiceResponse } from '../serving/request-context';
import type { ServiceRequest } from './route';

/**
 * Which fields of a message are counted into: of those that are messages the same again, of packed
 * numbers `packed`. By field number, as the protocol file has it.
 */
export interface Counted {
  readonly [field: number]: Counted | 'packed';
}

/** Messages are as @grpc/proto-loader makes them with `LOADING` (grpc/server.ts). */
export type Method = (
  message: never,
  call: ServiceRequest,
) => ServiceResponse | Promise<ServiceResponse>;

/** One stream: what answers its messages, in the order in which they came. */
export interface StreamHandler {
  /** `Answer.body`: the messages that answer it, in an array, which may be empty. */
  readonly answer: Method;
  /**
   * What tells the client of an error, after which the stream goes on; null: the stream ends with the
   * error as its status.
   *
   * @param message that it is about; null: it could not be read
   */
  readonly tell: (error: ServiceError, message: never | null) => object | null;
  /** Of what is neither counted nor logged where it is answered: it asks for nothing. Left out: of none. */
  readonly isAside?: (message: never) => boolean;
  /** The stream is over. */
  readonly close?: () => void;
}

/** A method whose client sends any number of messages. */
export interface StreamMethod {
  /** Messages of one stream that are in memory at once; no more of it is read before one is answered. */
  readonly mostAtOnce: number;
  /** The stream is one request of its client: it goes on while the service drains. */
  readonly isOneRequest: boolean;
  readonly open: (call: Pick<ServiceRequest, 'header'>) => StreamHandler;
}

/** A service that is offered over gRPC, apart from how calls come and go. */
export interface GrpcService {
  /** With its package: `inference.GRPCInferenceService`. */
  readonly name: string;
  /** Absolute path of the folder, and the name in it. */
  readonly protos: { readonly folder: string; readonly file: string };
  /** By name, as in the protocol file; those of it that are missing are UNIMPLEMENTED. */
  readonly methods: Readonly<Record<string, Method>>;
  /** The same of those that take streams. */
  readonly streams: Readonly<Record<string, StreamMethod>>;
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
