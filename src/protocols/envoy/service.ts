import path from 'node:path';
import type { GuardService } from '../../services/guard';
import { ByteBudget } from '../../serving/byte-budget';
import type { ServiceRequest } from '../../serving/service-request';
import { HOLD_TIMEOUT_MS } from '../../serving/timeouts';
import type { CountedFields, GrpcService } from '../grpc-service';
import type { ProcessingRequest } from './messages';
import { type HttpMessage, Session } from './session';

/** Maximum fields of a message. Envoy accepts 100 headers by default, with four fields each. */
const MAX_FIELDS = 10_000;

const HEADERS: CountedFields = { 1: { 1: {} } };
const COUNTED: CountedFields = {
  2: HEADERS,
  3: HEADERS,
  4: {},
  5: {},
  6: HEADERS,
  7: HEADERS,
  11: {},
};

export interface ExtProcOptions {
  /** Maximum bytes of one body. */
  readonly bodyLimit: number;
  /** Maximum bytes of all bodies that arrive in chunks. */
  readonly bodyMemory: number;
}

/**
 * Envoy's external processing (envoy/service/ext_proc/v3/external_processor.proto): the guard checks requests to an
 * upstream and its responses. A stream is one HTTP request and its response.
 */
export function extProc(
  guard: GuardService,
  { bodyLimit, bodyMemory }: ExtProcOptions,
): GrpcService {
  const memory = new ByteBudget<HttpMessage>({
    limit: bodyMemory,
    holdTimeoutMs: HOLD_TIMEOUT_MS,
    abort: ({ session }) => session.evict(),
  });
  return {
    name: 'envoy.service.ext_proc.v3.ExternalProcessor',
    protos: {
      folder: path.join(__dirname, 'protos'),
      file: 'envoy/service/ext_proc/v3/external_processor.proto',
    },
    methods: {},
    streams: {
      Process: {
        maxConcurrentMessages: 1, // a message depends on the messages before it
        isSingleRequest: true,
        open: () => {
          let session: Session | null = null;
          return {
            handle: (message: ProcessingRequest, call: ServiceRequest) => {
              session ??= new Session({ guard, bodyLimit, memory });
              return session.handle(message, call);
            },
            // The stream ends with its status, which Envoy handles as failure_mode_allow specifies.
            errorMessage: () => null,
            isControl: ({ request_body, response_body }: ProcessingRequest) =>
              !request_body && !response_body,
            close: () => session?.evict(),
          };
        },
      },
    },
    probes: [],
    inferenceMethods: [],
    managementMethods: [],
    fields: { counted: COUNTED, max: MAX_FIELDS },
    admissionError: guard.admissionError,
  };
}
