/** Text of `libtorch-serve --help`. */
import { flagOf, MODELS, SERVE, SERVICES } from './config';
import { SETTINGS, type Setting, type SettingName } from './settings';

/** Maximum length of a line, and the column of descriptions. */
const LINE_LENGTH = 100;
const COLUMN = 29;

/** Commands with their descriptions, in the order of `--help`. */
const COMMANDS: readonly (readonly [usage: string, description: string])[] = [
  [`${SERVE} PATH…`, 'serve models: model folders, .pt or .pt2 files, directories of models'],
  [`${MODELS} DIRECTORY`, 'serve a model repository: a directory with one folder per model'],
  [SERVICES.join(' | '), 'serve one model: a text classifier, or an EEG model (demo models)'],
  [
    'classify | decide | embed | encode | rerank | tag',
    'batch inference on files; see embed --help',
  ],
  [
    'calibrate FOLDER FILE…',
    'fit the scores of a text classifier on labeled texts; see calibrate --help',
  ],
  ['inspect PATH', "report a model's inputs, outputs and load error; see inspect --help"],
  [
    'import-torchserve FILE',
    'convert config.properties of TorchServe; see import-torchserve --help',
  ],
  ['install', 'download LibTorch now instead of at the first start'],
  ['build', 'compile the addon if no prebuilt addon fits'],
];

/** Settings that most servers set. */
const MAIN_SETTINGS: readonly SettingName[] = [
  'HOST',
  'PORT',
  'GRPC_PORT',
  'WORKERS',
  'DTYPE',
  'MAX_BATCH_TOKENS',
  'MAX_QUEUE_WAIT_MS',
  'REQUEST_TIMEOUT_MS',
  'API_KEYS_FILE',
  'LOG_LEVEL',
];

/** All settings by topic: the order of `--help all` and of docs/reference/settings.md. */
export const TOPICS: Readonly<Record<string, readonly SettingName[]>> = {
  Network: [
    ...(['HOST', 'PORT', 'GRPC_PORT', 'MANAGEMENT_PORT', 'MANAGEMENT_HOST'] as const),
    ...(['MAX_CONNECTIONS', 'MAX_CONNECTION_REQUESTS', 'KEEP_ALIVE_TIMEOUT_MS'] as const),
  ],
  Models: [
    ...(['MODELS_DIR', 'MODELS_WATCH', 'GUARD_FILE', 'SENTIMENT_MODEL_DIR'] as const),
    ...(['EEG_MODEL_PATH', 'MODEL_NAME', 'LISTEN_AFTER_MS', 'ALLOWED_OPERATORS'] as const),
  ],
  'Processor and number formats': [
    ...(['WORKERS', 'THREADS_PER_WORKER', 'DTYPE', 'ATTENTION_DTYPE', 'INSTRUCTION_SET'] as const),
  ],
  'Batching and queue': [
    ...(['MAX_BATCH_TOKENS', 'MAX_BATCH_REQUESTS', 'MAX_QUEUE_DELAY_MS'] as const),
    ...(['MAX_QUEUE_REQUESTS', 'MAX_QUEUE_WAIT_MS', 'RESULT_CACHE_MB'] as const),
  ],
  'Limits of requests': [
    ...(['BODY_LIMIT', 'BODY_MEMORY', 'RESPONSE_LIMIT', 'MAX_LIST_LENGTH'] as const),
    ...(['REQUEST_TIMEOUT_MS', 'INFERENCE_TIMEOUT_MS', 'INFERENCE_GRACE_MS'] as const),
  ],
  'Files and batches': [
    ...(['FILES_DIR', 'FILE_LIMIT', 'FILES_LIMIT', 'MAX_FILES', 'MAX_FILE_LINES'] as const),
    ...(['MAX_BATCHES'] as const),
  ],
  'Authentication, TLS and browsers': [
    ...(['API_KEY', 'API_KEYS_FILE', 'METRICS_REQUIRE_KEY', 'TLS_CERT_FILE'] as const),
    ...(['TLS_KEY_FILE', 'CORS_ORIGINS', 'ALLOWED_HOSTS'] as const),
  ],
  'Shutdown and logs': ['SHUTDOWN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS', 'LOG_LEVEL'],
};

/** @param isComplete all settings by topic; otherwise the most important settings */
export function helpText(isComplete: boolean): string {
  const settings = isComplete
    ? Object.entries(TOPICS).flatMap(([topic, names]) => [
        `${topic}:`,
        ...names.map(settingRow),
        '',
      ])
    : ['Main settings (all settings: --help all):', ...MAIN_SETTINGS.map(settingRow), ''];
  return [
    'Usage: libtorch-serve COMMAND [--setting value ...]',
    '',
    'Inference server for PyTorch models.',
    '',
    'Commands:',
    ...COMMANDS.map(([usage, description]) => row(usage, description)),
    '',
    ...wrap(
      'Each setting is a flag and an environment variable: --max-batch-tokens is MAX_BATCH_TOKENS. ' +
        'Flags have precedence.',
      0,
    ),
    '',
    ...settings,
    row('--help, -h', 'show this text; --help all: all settings'),
    row('--version, -v', 'show the version'),
    '',
  ].join('\n');
}

function settingRow(name: SettingName): string {
  const { help, shownDefault, default: fallback }: Setting = SETTINGS[name];
  return row(flagOf(name), `${help} (default: ${shownDefault ?? fallback})`);
}

/** A line with two columns; a long description continues on the next line. */
function row(left: string, description: string): string {
  const [first = '', ...others] = wrap(description, COLUMN);
  const start = `  ${left}`.padEnd(COLUMN);
  if (start.length <= COLUMN) return [start + first.trimStart(), ...others].join('\n');
  return [start, first, ...others].join('\n');
}

/** Breaks a text into indented lines of at most LINE_LENGTH characters. */
function wrap(text: string, indent: number): readonly string[] {
  const margin = ' '.repeat(indent);
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && `${last} ${word}`.length <= LINE_LENGTH) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(margin + word);
  }
  return lines;
}
