/** The only reader of the environment and of the command line. */
import path from 'node:path';
import { describeContradictions, describeWhatIsHardlyMeant } from './judge-settings';
import { readTracingSettings, type TracingSettings } from './otel-settings';
import {
  type DTYPES,
  type Given,
  type INSTRUCTIONS,
  type LOG_LEVELS,
  type Place,
  type PRODUCTS,
  SETTINGS,
  type Setting,
  type SettingValues,
} from './settings';

export const SERVICES = ['sentiment', 'eeg'] as const;
export type ServiceName = (typeof SERVICES)[number];

export interface Config {
  readonly service: ServiceName;
  /** Undefined: all interfaces. */
  readonly host: string | undefined;
  readonly port: number;
  /** Null: no gRPC. */
  readonly grpcPort: number | null;
  /** Absolute. */
  readonly sentimentModelDir: string;
  /** Absolute. */
  readonly eegModelPath: string;
  /** Threads that serve HTTP, that of the main thread included. */
  readonly eventLoops: number;
  /** Null: all that the processor has. */
  readonly instructions: (typeof INSTRUCTIONS)[number] | null;
  readonly scheduling: {
    readonly workers: number;
    readonly threadsPerWorker: number;
    readonly dtype: (typeof DTYPES)[number];
    readonly products: (typeof PRODUCTS)[number];
    readonly maxBatchTokens: number;
    readonly maxBatchRequests: number;
    readonly maxQueueDelayMs: number;
    readonly maxQueueRequests: number;
    readonly inferenceTimeoutMs: number;
    readonly maxQueueWaitMs: number;
    readonly allowedOperators: readonly string[];
  };
  /** Elements of a list. */
  readonly maxListLength: number;
  readonly requestTimeoutMs: number;
  readonly inferenceGraceMs: number;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Bytes. */
  readonly bodyMemory: number;
  readonly maxConnections: number;
  /** 0: any number. */
  readonly maxConnectionRequests: number;
  readonly keepAliveTimeoutMs: number;
  readonly access: AccessSettings;
  readonly shutdownDelayMs: number;
  /** From the signal on, so the delay is part of it. */
  readonly shutdownTimeoutMs: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** Null: no spans are exported. */
  readonly tracing: TracingSettings | null;
  /** What is allowed but hardly meant. */
  readonly warnings: readonly string[];
}

/** Who may ask. Paths are absolute. */
export interface AccessSettings {
  /** Null: none. Never together with `apiKeysFile`. */
  readonly apiKey: string | null;
  readonly apiKeysFile: string | null;
  readonly metricsNeedKey: boolean;
  /** Null: plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Origins whose pages may ask; the one element `*`: all; none: those of the service alone. */
  readonly corsOrigins: readonly string[];
}

export type Command =
  | { readonly type: 'help' }
  /** The native part, from its sources. */
  | { readonly type: 'build' }
  /** LibTorch, for the prebuilt native part. */
  | { readonly type: 'install' }
  | { readonly type: 'version' }
  /** Files without HTTP; it reads its own flags. */
  | { readonly type: 'classify'; readonly args: readonly string[] }
  /** What a model is, without serving it; it reads its own flags. */
  | { readonly type: 'inspect'; readonly args: readonly string[] }
  | { readonly type: 'serve'; readonly config: Config };

/** Everything that is wrong with the settings, one line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/**
 * Reads the command line (without node and the script) and the environment; a flag wins over a
 * variable, and an empty variable counts as not set.
 *
 * @throws ConfigError
 */
export function readCommand(
  args: readonly string[],
  place: Place,
  environment: Readonly<NodeJS.ProcessEnv> = process.env,
): Command {
  const [first] = args;
  if (first === 'classify' || first === 'inspect') return { type: first, args: args.slice(1) };
  if (args.includes('--help') || args.includes('-h')) return { type: 'help' };
  if (args.includes('--version') || args.includes('-v')) return { type: 'version' };

  if (args.length === 1 && (args[0] === 'build' || args[0] === 'install')) return { type: args[0] };

  const problems: string[] = [];
  const given = new Map<string, string>();
  for (const [name, { isNeverEmpty }] of Object.entries<Setting>(SETTINGS)) {
    const text = environment[name]?.trim();
    if (text || (text === '' && isNeverEmpty)) given.set(name, text);
  }
  const apiKeyOfEnvironment = given.get('API_KEY');
  const positionals = readFlags(args, given, problems);
  const service = SERVICES.find((name) => name === positionals[0]);
  if (service === undefined || positionals.length > 1) {
    const received = positionals.length === 0 ? 'nothing' : positionals.join(' ');
    problems.unshift(`expected one service, ${SERVICES.join(' or ')}, received ${received}`);
  }
  const values = readValues(given, place, problems);
  problems.push(...describeContradictions(values));
  if (service === undefined || problems.length > 0) throw new ConfigError(problems);
  const config = toConfig(service, values, { place, environment });
  if (given.get('API_KEY') === apiKeyOfEnvironment) return { type: 'serve', config };
  const warnings = [...config.warnings, 'API_KEY: as a flag, everyone on this machine can read it'];
  return { type: 'serve', config: { ...config, warnings } };
}

/** The text of `--help`. */
export function helpText(): string {
  const rows = Object.entries<Setting>(SETTINGS).map(([name, setting]) => {
    const shown = setting.shownDefault ?? String(setting.default);
    return `  ${flagOf(name).padEnd(26)}${setting.help} (default: ${shown})`;
  });
  return [
    `Usage: libtorch-serve ${SERVICES.join('|')} [--setting value ...]`,
    '       libtorch-serve classify  files instead of HTTP: libtorch-serve classify --help',
    '       libtorch-serve inspect   what a model takes and gives: libtorch-serve inspect --help',
    '       libtorch-serve install   fetches LibTorch now, not at the first start',
    '       libtorch-serve build     compiles the native part, where there is no prebuilt one',
    '',
    'Each setting can also be an environment variable: --max-batch-tokens is MAX_BATCH_TOKENS.',
    '',
    ...rows,
    `  ${'--help, -h'.padEnd(26)}this text`,
    `  ${'--version, -v'.padEnd(26)}the version`,
    '',
  ].join('\n');
}

/** Puts `--name value` and `--name=value` into `given`; returns the words that are no flags. */
function readFlags(
  args: readonly string[],
  given: Map<string, string>,
  problems: string[],
): readonly string[] {
  const positionals: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const [, written, inline] = /^--?([^=]+)(?:=(.*))?$/s.exec(args[i] as string) ?? [];
    if (written === undefined) {
      positionals.push(args[i] as string);
      continue;
    }
    const name = written.replaceAll('-', '_').toUpperCase();
    const value = inline ?? args[i + 1];
    const takesNext = inline === undefined && value !== undefined && !value.startsWith('--');
    if (takesNext) i++;
    if (!Object.hasOwn(SETTINGS, name)) problems.push(`--${written}: unknown setting; see --help`);
    else if (inline === undefined && !takesNext) problems.push(`${flagOf(name)}: needs a value`);
    else given.set(name, (value as string).trim());
  }
  return positionals;
}

function readValues(given: Given, place: Place, problems: string[]): SettingValues {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting>(SETTINGS)) {
    const fallback = setting.default;
    const text =
      given.get(name) ?? (typeof fallback === 'string' ? fallback : fallback(place, given));
    const result = setting.schema.safeParse(text);
    if (result.success) values[name] = result.data;
    else problems.push(`${name}: ${result.error.issues[0]?.message}`);
    if (setting.isNeverEmpty && given.get(name) === '') {
      problems.push(`${name}: is empty: give it a value, or do not set it`);
    }
  }
  return values as SettingValues;
}

function toConfig(
  service: ServiceName,
  values: SettingValues,
  { place, environment }: { readonly place: Place; readonly environment: NodeJS.ProcessEnv },
): Config {
  const warnings = describeWhatIsHardlyMeant(values, place);
  return {
    service,
    host: values.HOST || undefined,
    port: values.PORT,
    grpcPort: values.GRPC_PORT,
    sentimentModelDir: path.resolve(place.workingDirectory, values.SENTIMENT_MODEL_DIR),
    eegModelPath: path.resolve(place.workingDirectory, values.EEG_MODEL_PATH),
    eventLoops: values.EVENT_LOOPS,
    instructions: values.INSTRUCTIONS,
    scheduling: {
      workers: values.WORKERS,
      threadsPerWorker: values.THREADS_PER_WORKER,
      dtype: values.DTYPE,
      products: values.PRODUCTS,
      maxBatchTokens: values.MAX_BATCH_TOKENS,
      maxBatchRequests: values.MAX_BATCH_REQUESTS,
      maxQueueDelayMs: values.MAX_QUEUE_DELAY_MS,
      maxQueueRequests: values.MAX_QUEUE_REQUESTS,
      inferenceTimeoutMs: values.INFERENCE_TIMEOUT_MS,
      maxQueueWaitMs: values.MAX_QUEUE_WAIT_MS,
      allowedOperators: values.ALLOWED_OPERATORS,
    },
    maxListLength: values.MAX_LIST_LENGTH,
    requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
    inferenceGraceMs: values.INFERENCE_GRACE_MS,
    bodyLimit: values.BODY_LIMIT,
    bodyMemory: values.BODY_MEMORY,
    maxConnections: values.MAX_CONNECTIONS,
    maxConnectionRequests: values.MAX_CONNECTION_REQUESTS,
    keepAliveTimeoutMs: values.KEEP_ALIVE_TIMEOUT_MS,
    access: toAccess(values, place),
    shutdownDelayMs: values.SHUTDOWN_DELAY_MS,
    shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS,
    logLevel: values.LOG_LEVEL,
    tracing: readTracingSettings(environment, (warning) => warnings.push(warning)),
    warnings,
  };
}

function toAccess(values: SettingValues, { workingDirectory }: Place): AccessSettings {
  const resolve = (file: string): string => path.resolve(workingDirectory, file);
  const { API_KEYS_FILE, TLS_CERT_FILE, TLS_KEY_FILE } = values;
  return {
    apiKey: values.API_KEY || null,
    apiKeysFile: API_KEYS_FILE ? resolve(API_KEYS_FILE) : null,
    metricsNeedKey: values.METRICS_NEED_KEY,
    tls: TLS_CERT_FILE
      ? { certFile: resolve(TLS_CERT_FILE), keyFile: resolve(TLS_KEY_FILE) }
      : null,
    corsOrigins: values.CORS_ORIGINS,
  };
}

function flagOf(name: string): string {
  return `--${name.toLowerCase().replaceAll('_', '-')}`;
}
