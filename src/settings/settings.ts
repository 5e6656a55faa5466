import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import {
  boolean,
  bytes,
  expected,
  integer,
  operators,
  optionalPort,
  origins,
} from './setting-values';

export const DTYPES = ['float32', 'bfloat16x3', 'bfloat16', 'int8'] as const;
export const PRODUCTS = ['auto', 'float32', 'bfloat16'] as const;
/** From the least to the most; which of them a machine has, the native part says. */
export const INSTRUCTIONS = [
  'portable',
  'avx2',
  'avx512',
  'avx512-vnni',
  'avx512-bf16',
  'amx',
] as const;
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const MILLISECONDS_MAX = 2 ** 31 - 1; // what Node's timers hold
const BODY_LIMIT_MAX = 256 * 1024 ** 2; // V8's longest string is about 512 MiB
const BODY_MEMORY_MAX = 64 * 1024 ** 3;
const USUAL_BODY_MEMORY = 64 * 1024 ** 2;
/** Of the service itself, fewer than 50 (Linux), and some for what comes and goes. */
export const DESCRIPTORS_KEPT = 100;

/** What defaults depend on. */
export interface Place {
  readonly coresGranted: number;
  readonly descriptorsGranted: number;
  /** Absolute folder of package.json. */
  readonly packageRoot: string;
  readonly workingDirectory: string;
}

/** Settings as they were written, by name. */
export type Given = ReadonlyMap<string, string>;

export interface Setting {
  readonly schema: z.ZodType<unknown, string>;
  /** As it would be written in the environment. */
  readonly default: string | ((place: Place, given: Given) => string);
  /** What `--help` shows, where the default depends on the machine. */
  readonly shownDefault?: string;
  readonly help: string;
  /**
   * Set but empty, it is wrong instead of not set: `API_KEY=$SECRET` with a SECRET that is missing must
   * not open the service to everyone.
   */
  readonly isNeverEmpty?: true;
}

/** The one table of settings: it drives validation, defaults and `--help`. */
export const SETTINGS = {
  HOST: {
    schema: z.string().regex(/^\S*$/, { error: expected('a host name or an address') }),
    default: '',
    shownDefault: 'all interfaces',
    help: 'address to listen on',
  },
  PORT: {
    schema: integer(0, 65535),
    default: '8000',
    help: 'TCP port; 0 takes any free one',
  },
  GRPC_PORT: {
    schema: optionalPort(),
    default: '',
    shownDefault: 'none: no gRPC',
    help: 'TCP port of the gRPC services; 0 takes any free one',
  },
  SENTIMENT_MODEL_DIR: {
    schema: z.string(),
    default: ({ packageRoot }: Place) => path.join(packageRoot, 'models', 'sentiment'),
    shownDefault: 'the shipped model',
    help: 'folder that Hugging Face save_pretrained wrote',
  },
  EEG_MODEL_PATH: {
    schema: z.string(),
    default: defaultEegModel,
    shownDefault: './eeg_model.pt, or .pt2',
    help: 'model file: TorchScript or torch.export',
  },
  WORKERS: {
    schema: integer(1, 1024),
    default: defaultWorkers,
    shownDefault: 'cores granted / THREADS_PER_WORKER',
    help: 'threads that run batches',
  },
  THREADS_PER_WORKER: {
    schema: integer(1, 1024),
    default: '1',
    help: 'cores that one batch may use',
  },
  EVENT_LOOPS: {
    schema: integer(1, 64),
    default: '1',
    help: 'threads that serve HTTP, over one model',
  },
  DTYPE: {
    schema: z.string().pipe(z.enum(DTYPES, { error: expected(`one of ${DTYPES.join(', ')}`) })),
    default: 'float32',
    help: 'numbers of a text model: float32, bfloat16x3, bfloat16 or int8',
  },
  PRODUCTS: {
    schema: z.string().pipe(z.enum(PRODUCTS, { error: expected(`one of ${PRODUCTS.join(', ')}`) })),
    default: 'auto',
    help: 'numbers of attention, and of float32 layers: auto, float32 or bfloat16',
  },
  INSTRUCTIONS: {
    schema: z
      .string()
      .pipe(z.enum(['', ...INSTRUCTIONS], { error: expected(`one of ${INSTRUCTIONS.join(', ')}`) }))
      .transform((limit) => limit || null),
    default: '',
    shownDefault: 'all there are',
    help: `limit: ${INSTRUCTIONS.join(', ')}`,
  },
  MAX_BATCH_TOKENS: {
    schema: integer(1, 2 ** 20),
    default: '512',
    help: 'most tokens in a batch',
  },
  MAX_BATCH_REQUESTS: {
    schema: integer(1, 4096),
    default: '32',
    help: 'most requests in a batch',
  },
  MAX_QUEUE_DELAY_MS: {
    schema: integer(0, 60_000),
    default: '0',
    help: 'how long a free worker waits for more requests to fill a batch',
  },
  MAX_QUEUE_REQUESTS: {
    schema: integer(1, 2 ** 20),
    default: '2048',
    help: 'requests that may wait; one more is refused (503)',
  },
  MAX_QUEUE_WAIT_MS: {
    schema: integer(1, MILLISECONDS_MAX),
    default: '1000',
    help: 'longest expected wait in the queue; beyond it, requests are refused (503)',
  },
  MAX_LIST_LENGTH: {
    schema: integer(1, 2 ** 20),
    default: defaultListLength,
    shownDefault: '1024, or all of the queue',
    help: 'most texts or signals in a list (413)',
  },
  REQUEST_TIMEOUT_MS: {
    schema: integer(1, MILLISECONDS_MAX),
    default: '30000',
    help: 'longest time from the arrival of a request until its model runs (504)',
  },
  INFERENCE_TIMEOUT_MS: {
    schema: integer(1, MILLISECONDS_MAX),
    default: '60000',
    help: 'longest run of the model, on a batch (504) or a trial at start',
  },
  INFERENCE_GRACE_MS: {
    schema: integer(0, MILLISECONDS_MAX),
    default: '30000',
    help: 'how long that batch may still take before the process ends with 3',
  },
  ALLOWED_OPERATORS: {
    schema: operators(),
    default: '',
    shownDefault: 'none',
    help: 'that a model file may use beside the usual ones: aten::set_,prim::id',
  },
  BODY_LIMIT: {
    schema: bytes(BODY_LIMIT_MAX),
    default: '1mb',
    help: 'largest body: bytes, or a number with kb or mb',
  },
  BODY_MEMORY: {
    schema: bytes(BODY_MEMORY_MAX),
    default: defaultBodyMemory,
    shownDefault: '64mb or more',
    help: 'bodies on their way; as much of compressed ones, and answers',
  },
  MAX_CONNECTIONS: {
    schema: integer(1, 2 ** 20),
    default: defaultConnections,
    shownDefault: 'descriptors − 100, up to 10000',
    help: 'open connections; one more closes the idlest',
  },
  MAX_CONNECTION_REQUESTS: {
    schema: integer(0, 2 ** 31 - 1),
    default: '0',
    shownDefault: '0: any number',
    help: 'requests after which a connection is closed',
  },
  KEEP_ALIVE_TIMEOUT_MS: {
    schema: integer(1, MILLISECONDS_MAX),
    default: '65000',
    help: 'how long an idle connection stays open',
  },
  API_KEY: {
    // The message must not quote it.
    schema: z.string().regex(/^[\x21-\x7e]{0,1024}$/, {
      error: 'expected up to 1024 visible ASCII characters without spaces',
    }),
    default: '',
    shownDefault: 'none is needed',
    help: 'key that requests must bring (401); a file is better',
    isNeverEmpty: true,
  },
  API_KEYS_FILE: {
    schema: z.string(),
    default: '',
    shownDefault: 'none',
    help: 'file of such keys, one a line; read again on SIGHUP',
    isNeverEmpty: true,
  },
  METRICS_NEED_KEY: {
    schema: boolean(),
    default: 'true',
    help: 'whether /metrics needs a key, where keys are set',
  },
  TLS_CERT_FILE: {
    schema: z.string(),
    default: '',
    shownDefault: 'none: plain HTTP',
    help: 'certificate and its chain, PEM; read again on SIGHUP',
    isNeverEmpty: true,
  },
  TLS_KEY_FILE: {
    schema: z.string(),
    default: '',
    shownDefault: 'none',
    help: 'private key of the certificate, PEM; read again on SIGHUP',
    isNeverEmpty: true,
  },
  CORS_ORIGINS: {
    schema: origins(),
    default: '',
    shownDefault: 'none',
    help: 'origins whose pages may ask, separated by commas, or *',
  },
  SHUTDOWN_DELAY_MS: {
    schema: integer(0, MILLISECONDS_MAX),
    default: '0',
    help: 'how long requests are still taken once told to stop, with /ready at 503',
  },
  SHUTDOWN_TIMEOUT_MS: {
    schema: integer(1, MILLISECONDS_MAX),
    default: '25000',
    help: 'longest time from being told to stop to the end, with SHUTDOWN_DELAY_MS',
  },
  LOG_LEVEL: {
    schema: z
      .string()
      .pipe(z.enum(LOG_LEVELS, { error: expected(`one of ${LOG_LEVELS.join(', ')}`) })),
    default: 'info',
    help: 'lowest level that is logged',
  },
} as const satisfies Readonly<Record<string, Setting>>;

type SettingName = keyof typeof SETTINGS;
export type SettingValues = {
  readonly [Name in SettingName]: z.output<(typeof SETTINGS)[Name]['schema']>;
};

/** The exported one only where it is the only one. */
function defaultEegModel({ workingDirectory }: Place): string {
  const has = (name: string): boolean => existsSync(path.join(workingDirectory, name));
  return !has('eeg_model.pt') && has('eeg_model.pt2') ? 'eeg_model.pt2' : 'eeg_model.pt';
}

/** One single-threaded worker per core serves the most requests. */
function defaultWorkers({ coresGranted }: Place, given: Given): string {
  const threadsPerWorker = Number(given.get('THREADS_PER_WORKER')) || 1;
  return String(Math.max(1, Math.floor(coresGranted / threadsPerWorker)));
}

/** Half of the default queue: a list leaves room for others. */
function defaultListLength(_place: Place, given: Given): string {
  const queue = given.get('MAX_QUEUE_REQUESTS') ?? SETTINGS.MAX_QUEUE_REQUESTS.default;
  return String(Math.min(1024, Number(queue) || 1024));
}

/** A body of the largest size must have room, on each event loop. */
function defaultBodyMemory(_place: Place, given: Given): string {
  const limit = SETTINGS.BODY_LIMIT.schema.safeParse(given.get('BODY_LIMIT') ?? '1mb');
  const loops = Number(given.get('EVENT_LOOPS')) || 1;
  return String(Math.max(USUAL_BODY_MEMORY, (limit.data ?? 0) * loops));
}

/** An idle connection takes about 15 kB; with a second port, each has half of the descriptors. */
function defaultConnections({ descriptorsGranted }: Place, given: Given): string {
  const ports = given.get('GRPC_PORT') ? 2 : 1;
  const most = Math.floor((descriptorsGranted - DESCRIPTORS_KEPT) / ports);
  return String(Math.max(16, Math.min(10_000, most)));
}
