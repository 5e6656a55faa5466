import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from './environment';
import {
  apiKey,
  boolean,
  bytes,
  filePath,
  host,
  hostNames,
  integer,
  modelName,
  oneOf,
  operators,
  optional,
  origins,
  type Parser,
  parseBytes,
} from './parsers';

export const DTYPES = ['float32', 'bfloat16', 'int8'] as const;
export const PRODUCTS = ['auto', 'float32', 'bfloat16'] as const;
/** From the least to the most; which of them a machine has, the native part says. */
export const INSTRUCTIONS = ['portable', 'avx2', 'avx512', 'avx512-vnni', 'avx512-bf16'] as const;
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const MILLISECONDS_MAX = 2 ** 31 - 1; // what Node's timers hold
const BODY_LIMIT_MAX = 256 * 1024 ** 2; // V8's longest string is about 512 MiB
const BODY_MEMORY_MAX = 64 * 1024 ** 3;
const DEFAULT_BODY_MEMORY = 64 * 1024 ** 2;
const DEFAULT_RESPONSE_LIMIT = 32 * 1024 ** 2;
/** Of the service itself, fewer than 50 (Linux), and some for what comes and goes. */
export const RESERVED_DESCRIPTORS = 100;

/** Settings as they were written, by name. */
export type RawSettings = ReadonlyMap<string, string>;

/** As it would be written in the environment. */
type Default = string | ((environment: Environment, raw: RawSettings) => string);

export interface Setting {
  readonly help: string;
  readonly parse: Parser<unknown>;
  readonly default: Default;
  /** What is shown, where the default depends on the machine or is nothing. */
  readonly shownDefault: string | undefined;
  /** The object of `Config` that has it; null: `Config` itself. */
  readonly group: 'scheduling' | 'access' | null;
  /**
   * Set but empty, it is wrong instead of not set: `API_KEY=$SECRET` with a SECRET that is missing must
   * not open the service to everyone.
   */
  readonly rejectsEmpty: boolean;
}

function settingsGroup<const Group extends Setting['group']>(group: Group, rejectsEmpty = false) {
  return <Value, Fallback extends Default>(
    help: string,
    parse: Parser<Value>,
    fallback: Fallback,
    shownDefault?: string,
  ) => ({ help, parse, default: fallback, shownDefault, group, rejectsEmpty });
}

const general = settingsGroup(null);
const scheduling = settingsGroup('scheduling');
const access = settingsGroup('access');
const accessNeverEmpty = settingsGroup('access', true);

/**
 * The one table of settings: `Config` and its type, flags, `--help` and the table of docs/settings.md
 * follow from it.
 */
export const SETTINGS = {
  HOST: general('address to listen on', host(), '', 'all interfaces'),
  PORT: general('TCP port; 0 takes any free one', integer(0, 65535), '8000'),
  GRPC_PORT: general(
    'TCP port of the gRPC services; 0 takes any free one',
    optional(integer(0, 65535)),
    '',
    'none: no gRPC',
  ),
  MANAGEMENT_PORT: general(
    "TCP port of TorchServe's management API; 0 takes any free one",
    optional(integer(0, 65535)),
    '',
    'none: no such API',
  ),
  MANAGEMENT_HOST: general('address that MANAGEMENT_PORT is on', host(), '127.0.0.1'),
  LISTEN_AFTER_MS: general(
    'longest that loading keeps the ports of sentiment and eeg closed',
    integer(0, MILLISECONDS_MAX),
    '10000',
  ),
  SENTIMENT_MODEL_DIR: general(
    'folder that Hugging Face save_pretrained wrote',
    filePath(),
    defaultSentimentModel,
    'the shipped model',
  ),
  EEG_MODEL_PATH: general(
    'model file: TorchScript or torch.export',
    filePath(),
    defaultEegModel,
    './eeg_model.pt, or .pt2',
  ),
  MODELS_DIR: general(
    'directory of models, each in a folder of its own',
    optional(filePath()),
    '',
    'none',
  ),
  MODELS_WATCH: general(
    'whether a folder of models that changes is loaded again',
    boolean(),
    'false',
  ),
  GUARD_FILE: general(
    'file of a guard over a directory of models',
    optional(filePath()),
    '',
    'guard.json there, if any',
  ),
  MODEL_NAME: general(
    'name of the model of sentiment or eeg, in every protocol',
    optional(modelName()),
    '',
    'the one its files say',
  ),
  WORKERS: scheduling(
    'threads that run batches',
    integer(1, 1024),
    defaultWorkers,
    'cores granted / THREADS_PER_WORKER',
  ),
  THREADS_PER_WORKER: scheduling('cores that one batch may use', integer(1, 1024), '1'),
  DTYPE: scheduling(
    'number format of text models: float32, bfloat16 or int8',
    oneOf(DTYPES),
    'float32',
  ),
  PRODUCTS: scheduling(
    'number format of attention: auto, float32 or bfloat16',
    oneOf(PRODUCTS),
    'auto',
  ),
  INSTRUCTIONS: general(
    `limit: ${INSTRUCTIONS.join(', ')}`,
    optional(oneOf(INSTRUCTIONS)),
    '',
    'all there are',
  ),
  MAX_BATCH_TOKENS: scheduling('most tokens in a batch', integer(1, 2 ** 20), '512'),
  MAX_BATCH_REQUESTS: scheduling('most requests in a batch', integer(1, 4096), '32'),
  MAX_QUEUE_DELAY_MS: scheduling(
    'how long a free worker waits for more requests to fill a batch',
    integer(0, 60_000),
    '0',
  ),
  MAX_QUEUE_REQUESTS: scheduling(
    'requests that may wait; one more is refused (503)',
    integer(1, 2 ** 20),
    '2048',
  ),
  MAX_QUEUE_WAIT_MS: scheduling(
    'longest expected wait in the queue; beyond it, requests are refused (503)',
    integer(1, MILLISECONDS_MAX),
    '1000',
  ),
  RESULT_CACHE_MB: scheduling(
    'memory for answers to texts that may come again; 0: none are kept',
    integer(0, 2 ** 20),
    '0',
  ),
  MAX_LIST_LENGTH: general(
    'most texts or signals in a list (413)',
    integer(1, 2 ** 20),
    defaultListLength,
    '1024, or all of the queue',
  ),
  REQUEST_TIMEOUT_MS: general(
    'longest time from the arrival of a request until its model runs (504)',
    integer(1, MILLISECONDS_MAX),
    '30000',
  ),
  INFERENCE_TIMEOUT_MS: scheduling(
    'longest run of the model, on a batch (504) or a trial at start',
    integer(1, MILLISECONDS_MAX),
    '60000',
  ),
  INFERENCE_GRACE_MS: general(
    'how long that batch may still take before the process ends with 3',
    integer(0, MILLISECONDS_MAX),
    '30000',
  ),
  ALLOWED_OPERATORS: scheduling(
    'that a model file may use beside the usual ones: aten::set_,prim::id',
    operators(),
    '',
    'none',
  ),
  BODY_LIMIT: general(
    'largest body: bytes, or a number with kb or mb',
    bytes(BODY_LIMIT_MAX),
    '1mb',
  ),
  BODY_MEMORY: general(
    'bodies on their way; as much of compressed ones, and answers',
    bytes(BODY_MEMORY_MAX),
    defaultBodyMemory,
    '64mb or more',
  ),
  RESPONSE_LIMIT: general(
    'largest response (413): bytes, or a number with kb or mb',
    bytes(BODY_LIMIT_MAX),
    defaultResponseLimit,
    '32mb or more',
  ),
  MAX_CONNECTIONS: general(
    'open connections; one more closes the idlest',
    integer(1, 2 ** 20),
    defaultConnections,
    'descriptors − 100, up to 10000',
  ),
  MAX_CONNECTION_REQUESTS: general(
    'requests after which a connection is closed',
    integer(0, 2 ** 31 - 1),
    '0',
    '0: any number',
  ),
  KEEP_ALIVE_TIMEOUT_MS: general(
    'how long an idle connection stays open',
    integer(1, MILLISECONDS_MAX),
    '65000',
  ),
  API_KEY: accessNeverEmpty(
    'key that requests must bring (401); a file is better',
    optional(apiKey()),
    '',
    'none is needed',
  ),
  API_KEYS_FILE: accessNeverEmpty(
    'file of such keys, one a line, with what it is for; read again on SIGHUP',
    optional(filePath()),
    '',
    'none',
  ),
  METRICS_NEED_KEY: access('whether /metrics needs a key, where keys are set', boolean(), 'true'),
  TLS_CERT_FILE: accessNeverEmpty(
    'certificate and its chain, PEM; read again on SIGHUP',
    optional(filePath()),
    '',
    'none: plain HTTP',
  ),
  TLS_KEY_FILE: accessNeverEmpty(
    'private key of the certificate, PEM; read again on SIGHUP',
    optional(filePath()),
    '',
    'none',
  ),
  CORS_ORIGINS: access(
    'origins whose pages may ask, separated by commas, or *',
    origins(),
    '',
    'none',
  ),
  ALLOWED_HOSTS: access(
    'host names of the service in browsers, if it has no keys, or *',
    hostNames(),
    '',
    'of this machine',
  ),
  SHUTDOWN_DELAY_MS: general(
    'how long requests are still taken once told to stop, with /ready at 503',
    integer(0, MILLISECONDS_MAX),
    '0',
  ),
  SHUTDOWN_TIMEOUT_MS: general(
    'longest time from being told to stop to the end, with SHUTDOWN_DELAY_MS',
    integer(1, MILLISECONDS_MAX),
    '25000',
  ),
  LOG_LEVEL: general('lowest level that is logged', oneOf(LOG_LEVELS), 'info'),
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;
/** Values by the names of the settings. */
export type SettingValues = {
  readonly [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]['parse']>;
};

function defaultSentimentModel({ packageRoot }: Environment): string {
  return path.join(packageRoot, 'models', 'sentiment');
}

/** The exported one only where it is the only one. */
function defaultEegModel({ workingDirectory }: Environment): string {
  const has = (name: string): boolean => existsSync(path.join(workingDirectory, name));
  return !has('eeg_model.pt') && has('eeg_model.pt2') ? 'eeg_model.pt2' : 'eeg_model.pt';
}

/** One single-threaded worker per core serves the most requests. */
function defaultWorkers({ availableCores }: Environment, raw: RawSettings): string {
  const threadsPerWorker = Number(raw.get('THREADS_PER_WORKER')) || 1;
  return String(Math.max(1, Math.floor(availableCores / threadsPerWorker)));
}

/** Half of the default queue: a list leaves room for others. */
function defaultListLength(_environment: Environment, raw: RawSettings): string {
  const queue = raw.get('MAX_QUEUE_REQUESTS') ?? SETTINGS.MAX_QUEUE_REQUESTS.default;
  return String(Math.min(1024, Number(queue) || 1024));
}

/** A response may repeat the largest body. */
function defaultResponseLimit(_environment: Environment, raw: RawSettings): string {
  const limit = parseBytes(raw.get('BODY_LIMIT') ?? SETTINGS.BODY_LIMIT.default) || 0;
  return String(Math.min(Math.max(DEFAULT_RESPONSE_LIMIT, 2 * limit), BODY_LIMIT_MAX));
}

/** A body of the largest size must have room. */
function defaultBodyMemory(_environment: Environment, raw: RawSettings): string {
  const limit = parseBytes(raw.get('BODY_LIMIT') ?? SETTINGS.BODY_LIMIT.default) || 0;
  return String(Math.max(DEFAULT_BODY_MEMORY, Math.min(limit, BODY_LIMIT_MAX)));
}

/** An idle connection takes about 15 kB; with a second port, each has half of the descriptors. */
function defaultConnections({ maxDescriptors }: Environment, raw: RawSettings): string {
  const ports = raw.get('GRPC_PORT') ? 2 : 1;
  const most = Math.floor((maxDescriptors - RESERVED_DESCRIPTORS) / ports);
  return String(Math.max(16, Math.min(10_000, most)));
}
