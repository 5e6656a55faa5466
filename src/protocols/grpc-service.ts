import type { EngineError } from '../native/engine';
import type { ServiceError } from '../serving/errors';
import type { ServiceResponse } from '../serving/request-context';
import type { ServiceRequest } from '../serving/service-request';

/**
 * Message fields to count, by field number. An object counts the fields of a nested message, `packed` counts the
 * elements of a packed list.
 */
export interface CountedFields {
  readonly [field: number]: CountedFields | 'packed';
}

/** Maximum number of fields of a message, and the fields to count (`countFields`). */
export interface FieldLimit {
  readonly counted: CountedFields;
  readonly max: number;
}

/** Handler of a message. Messages have the form that @grpc/proto-loader produces with the options in grpc/routes.ts. */
export type MessageHandler = (
  message: never,
  call: ServiceRequest,
) => ServiceResponse | Promise<ServiceResponse>;

/** Handler of the messages of one stream, in the order of their arrival. */
export interface StreamHandler {
  /** Handles a message. `ServiceResponse.body` is an array of response messages, which may be empty. */
  readonly handle: MessageHandler;
  /**
   * Message that reports an error, after which the stream continues. Null: the stream ends with the error as its status.
   *
   * @param message the message that failed; null: it could not be parsed
   */
  readonly errorMessage: (error: ServiceError, message: never | null) => object | null;
  /** True for control messages, which are neither counted nor logged as requests. Default: no message. */
  readonly isControl?: (message: never) => boolean;
  /** Called when the stream has ended. */
  readonly close?: () => void;
}

/** Method whose client sends a stream of messages. */
export interface StreamMethod {
  /** Messages of one stream that are in progress at once. Further messages stay with the client. */
  readonly maxConcurrentMessages: number;
  /** True if the whole stream is one request of its client: it continues during graceful shutdown. */
  readonly isSingleRequest: boolean;
  readonly open: (call: Pick<ServiceRequest, 'header'>) => StreamHandler;
}

/** gRPC service of a protocol, independent of the transport. */
export interface GrpcService {
  /** Full name with package: `inference.GRPCInferenceService`. */
  readonly name: string;
  /** Protocol file: absolute path of its folder, and its path in the folder. */
  readonly protos: { readonly folder: string; readonly file: string };
  /** Handlers of unary methods by name. Methods of the protocol file without a handler are UNIMPLEMENTED. */
  readonly methods: Readonly<Record<string, MessageHandler>>;
  /** Methods with a stream of requests, by name. */
  readonly streams: Readonly<Record<string, StreamMethod>>;
  /** Names of the methods that are readiness or liveness probes. They need no API key. */
  readonly probes: readonly string[];
  /** Names of the methods that run the model. */
  readonly inferenceMethods: readonly string[];
  /** Names of the methods that load and unload models. */
  readonly managementMethods: readonly string[];
  readonly fields: FieldLimit;
  /** Error with which the engine would reject a request now, with this many ms left; null: the request is admitted. */
  readonly admissionError: (timeoutMs: number) => EngineError | null;
}
