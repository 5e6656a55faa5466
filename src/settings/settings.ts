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
} from './parsers';
import {
  DEFAULT_BODY_LIMIT,
  DEFAULT_QUEUE_REQUESTS,
  defaultBodyMemory,
  defaultConnections,
  defaultEegModel,
  defaultListLength,
  defaultResponseLimit,
  defaultSentimentModel,
  defaultWorkers,
  MAX_BODY_LIMIT,
  type RawSettings,
} from './setting-defaults';

export const DTYPES = ['float32', 'bfloat16', 'int8', 'int8-vnni'] as const;
export const ATTENTION_DTYPES = ['auto', 'float32', 'bfloat16'] as const;
/** Instruction sets, ascending. The addon reports which of them the processor has. */
export const INSTRUCTION_SETS = [
  'portable',
  'avx2',
  'avx512',
  'avx512-vnni',
  'avx512-bf16',
  'amx',
] as const;
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const MAX_MS = 2 ** 31 - 1; // maximum delay of a Node timer
const MAX_BODY_MEMORY = 64 * 1024 ** 3;
const MAX_FILE_LIMIT = 16 * 1024 ** 3;
const MAX_FILES_LIMIT = 64 * 1024 ** 4;

/** Default in the form of an environment variable. */
type Default = string | ((environment: Environment, raw: RawSettings) => string);

export interface Setting {
  readonly help: string;
  readonly parse: Parser<unknown>;
  readonly default: Default;
  /** Default as documented, if it depends on the machine or is empty. */
  readonly shownDefault: string | undefined;
  /** Object of `Config` that contains the setting; null: `Config` itself. */
  readonly group: 'scheduling' | 'access' | null;
  /**
   * An empty value is an error, not an unset setting: `API_KEY=$SECRET` must not disable authentication if
   * SECRET is missing.
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
const credential = settingsGroup('access', true);

const port = integer(0, 65535);
const milliseconds = integer(1, MAX_MS);
const count = integer(1, 2 ** 20);

/** All settings. `Config`, the flags, `--help` and the table of docs/reference/settings.md are derived from this table. */
// biome-ignore format: a table with two lines per setting
export const SETTINGS = {
  HOST: general('address to listen on',
    host(), '', 'all interfaces'),
  PORT: general('TCP port of the HTTP server; 0 selects a free port',
    port, '8000'),
  GRPC_PORT: general('TCP port of the gRPC server; 0 selects a free port',
    optional(port), '', 'none: no gRPC'),
  MANAGEMENT_PORT: general('TCP port of the TorchServe management API; 0 selects a free port',
    optional(port), '', 'none: no management API'),
  MANAGEMENT_HOST: general('address on which the management API listens',
    host(), '127.0.0.1'),
  LISTEN_AFTER_MS: general('maximum time in ms that loading the model of sentiment or eeg delays the ports',
    integer(0, MAX_MS), '10000'),
  SENTIMENT_MODEL_DIR: general('model folder of sentiment, as written by Hugging Face save_pretrained',
    filePath(), defaultSentimentModel, 'the shipped model'),
  EEG_MODEL_PATH: general('model file of eeg: TorchScript (.pt) or torch.export (.pt2)',
    filePath(), defaultEegModel, './eeg_model.pt, or .pt2'),
  MODELS_DIR: general('model repository: a directory with one folder per model',
    optional(filePath()), '', 'none'),
  MODELS_WATCH: general('reload model folders and the guardrail policy when their files change',
    boolean(), 'false'),
  GUARD_FILE: general('guardrail policy of the model repository',
    optional(filePath()), '', 'guard.json of MODELS_DIR, if any'),
  MODEL_NAME: general('name of the model of sentiment or eeg in all protocols',
    optional(modelName()), '', 'name of the service; for OpenAI and the pages: name in the model files'),
  WORKERS: scheduling('number of workers, each of which runs one batch at a time',
    integer(1, 1024), defaultWorkers, 'available cores / THREADS_PER_WORKER'),
  THREADS_PER_WORKER: scheduling('number of threads per worker',
    integer(1, 1024), '1'),
  DTYPE: scheduling('number format of text models: float32, bfloat16, int8 or int8-vnni',
    oneOf(DTYPES), 'float32'),
  ATTENTION_DTYPE: scheduling('number format of attention: auto, float32 or bfloat16',
    oneOf(ATTENTION_DTYPES), 'auto'),
  INSTRUCTION_SET: general('highest instruction set: portable, avx2, avx512, avx512-vnni, avx512-bf16 or amx',
    optional(oneOf(INSTRUCTION_SETS)), '', 'all of the processor'),
  MAX_BATCH_TOKENS: scheduling('maximum number of tokens in a batch',
    count, '512'),
  MAX_BATCH_REQUESTS: scheduling('maximum number of requests in a batch',
    integer(1, 4096), '32'),
  MAX_QUEUE_DELAY_MS: scheduling('maximum time in ms that an idle worker waits for requests to fill a batch',
    integer(0, 60_000), '0'),
  MAX_QUEUE_REQUESTS: scheduling('queue capacity in requests; further requests get 503',
    count, DEFAULT_QUEUE_REQUESTS),
  MAX_QUEUE_WAIT_MS: scheduling('maximum expected queue wait in ms; requests that exceed it get 503',
    milliseconds, '1000'),
  RESULT_CACHE_MB: scheduling('size of the result cache in MB; 0 disables it',
    integer(0, 2 ** 20), '0'),
  MAX_LIST_LENGTH: general('maximum number of texts or signals in a list; longer lists get 413',
    count, defaultListLength, '1024, or MAX_QUEUE_REQUESTS'),
  REQUEST_TIMEOUT_MS: general('maximum time in ms from the arrival of a request to its batch; then it gets 504',
    milliseconds, '30000'),
  INFERENCE_TIMEOUT_MS: scheduling('maximum run time of a batch in ms; then its requests get 504',
    milliseconds, '60000'),
  INFERENCE_GRACE_MS: general('additional run time of a batch in ms before the process exits with code 3',
    integer(0, MAX_MS), '30000'),
  ALLOWED_OPERATORS: scheduling('additional allowed operators of model files: aten::set_,prim::id',
    operators(), '', 'none'),
  BODY_LIMIT: general('maximum body size: bytes, or a number with kb or mb; larger bodies get 413',
    bytes(MAX_BODY_LIMIT), DEFAULT_BODY_LIMIT),
  BODY_MEMORY: general('memory for request bodies; bodies that exceed it get 503',
    bytes(MAX_BODY_MEMORY), defaultBodyMemory, '64mb or more'),
  RESPONSE_LIMIT: general('maximum response size: bytes, or a number with kb or mb; larger ones get 413',
    bytes(MAX_BODY_LIMIT), defaultResponseLimit, '32mb or more'),
  MAX_CONNECTIONS: general('maximum number of open connections; a new one closes the longest idle one',
    count, defaultConnections, 'descriptors − 100, up to 10000'),
  MAX_CONNECTION_REQUESTS: general('number of requests after which a connection is closed',
    integer(0, MAX_MS), '0', '0: unlimited'),
  KEEP_ALIVE_TIMEOUT_MS: general('time in ms after which an idle connection is closed',
    milliseconds, '65000'),
  FILES_DIR: general('directory of the Files and Batches API of OpenAI: uploaded files and results',
    optional(filePath()), '', 'none: the API is disabled'),
  FILE_LIMIT: general('maximum size of an uploaded file: bytes, or a number with kb or mb; larger ones get 413',
    bytes(MAX_FILE_LIMIT), '200mb'),
  FILES_LIMIT: general('maximum total size of all files in FILES_DIR; uploads that exceed it get 413',
    bytes(MAX_FILES_LIMIT), '10240mb'),
  MAX_FILES: general('maximum number of files, and of kept ended batches; further uploads and batches get 413',
    integer(3, 100_000), '10000'),
  MAX_FILE_LINES: general('maximum number of requests in the input file of a batch',
    integer(1, 2 ** 20), '50000'),
  MAX_BATCHES: general('maximum number of unfinished batches; further batches get 413',
    integer(1, 10_000), '100'),
  API_KEY: credential('API key that clients must send (401); prefer API_KEYS_FILE',
    optional(apiKey()), '', 'none: no authentication'),
  API_KEYS_FILE: credential('file with one API key and its permissions per line; SIGHUP reloads it',
    optional(filePath()), '', 'none'),
  METRICS_REQUIRE_KEY: access('require an API key for /metrics if API keys are set',
    boolean(), 'true'),
  TLS_CERT_FILE: credential('TLS certificate chain in PEM format; SIGHUP reloads it',
    optional(filePath()), '', 'none: plain HTTP'),
  TLS_KEY_FILE: credential('private key of the TLS certificate in PEM format; SIGHUP reloads it',
    optional(filePath()), '', 'none'),
  CORS_ORIGINS: access('origins whose pages may send requests, separated by commas, or *',
    origins(), '', 'none'),
  ALLOWED_HOSTS: access('host names that browsers may use without API keys, separated by commas, or *',
    hostNames(), '', 'those of this machine'),
  SHUTDOWN_DELAY_MS: general('time in ms from SIGTERM to the closing of the ports; meanwhile /ready is 503',
    integer(0, MAX_MS), '0'),
  SHUTDOWN_TIMEOUT_MS: general('maximum time of a graceful shutdown in ms, including SHUTDOWN_DELAY_MS',
    milliseconds, '25000'),
  LOG_LEVEL: general('minimum level of log lines: trace, debug, info, warn, error, fatal or silent',
    oneOf(LOG_LEVELS), 'info'),
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;
/** Parsed values by setting name. */
export type SettingValues = {
  readonly [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]['parse']>;
};
