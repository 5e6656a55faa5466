import path from 'node:path';
import type { GuardService } from '../../services/guard';
import { ByteBudget } from '../../serving/byte-budget';
import type { ServiceRequest } from '../../serving/service-request';
import { PATIENCE_MS } from '../../serving/timeouts';
import type { CountedFields, GrpcService } from '../grpc-service';
import type { ProcessingRequest } from './messages';
import { Session, type Side } from './session';

/** Envoy takes 100 headers by default, each of them three fields and what they lie in. */
const MOST_FIELDS = 10_000;

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
  /** Bytes of one body. */
  readonly bodyLimit: number;
  /** Bytes of all bodies that come in pieces. */
  readonly bodyMemory: number;
}

/**
 * Envoy's external processing (envoy/service/ext_proc/v3/external_processor.proto): the guard before and behind
 * an upstream. A stream is one HTTP request and its answer.
 */
export function extProc(
  guarding: GuardService,
  { bodyLimit, bodyMemory }: ExtProcOptions,
): GrpcService {
  const held = new ByteBudget<Side>({
    limit: bodyMemory,
    patienceMs: PATIENCE_MS,
    cut: ({ session }) => session.drop(),
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
        maxConcurrentMessages: 1, // what is said of a message depends on those before it
        isSingleRequest: true,
        open: () => {
          let session: Session | null = null;
          return {
            handle: (message: ProcessingRequest, call: ServiceRequest) => {
              session ??= new Session({ guarding, bodyLimit, held });
              return session.answer(message, call);
            },
            // The stream ends with its status: Envoy's failure_mode_allow says what that means.
            errorMessage: () => null,
            isControl: ({ request_body, response_body }: ProcessingRequest) =>
              !request_body && !response_body,
            close: () => session?.close(),
          };
        },
      },
    },
    probes: [],
    inferenceMethods: [],
    managementMethods: [],
    fields: { counted: COUNTED, max: MOST_FIELDS },
    refusal: guarding.refusal,
  };
}
