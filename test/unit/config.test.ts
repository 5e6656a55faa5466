import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { helpText as batchHelp } from '../../src/commands/batch/batch-command';
import { BATCH_COMMANDS } from '../../src/commands/batch/commands';
import { type Command, readCommand } from '../../src/settings/command-line';
import { type Config, ConfigError } from '../../src/settings/config';
import type { Environment } from '../../src/settings/environment';
import { helpText, TOPICS } from '../../src/settings/help';
import { SETTINGS } from '../../src/settings/settings';

const ENVIRONMENT: Environment = {
  availableCores: 8,
  maxDescriptors: 1024,
  packageRoot: '/package',
  workingDirectory: '/home/user',
  variables: {},
};

function command(args: readonly string[], variables: NodeJS.ProcessEnv = {}): Command {
  return readCommand(args, { ...ENVIRONMENT, variables });
}

function config(args: readonly string[], variables: NodeJS.ProcessEnv = {}): Config {
  const result = command(args, variables);
  if (result.type !== 'serve') throw new Error(`expected to serve, received ${result.type}`);
  return result.config;
}

function problems(args: readonly string[], variables: NodeJS.ProcessEnv = {}): readonly string[] {
  try {
    command(args, variables);
  } catch (error) {
    if (error instanceof ConfigError) return error.lines;
    throw error;
  }
  return [];
}

describe('readCommand', () => {
  it('has defaults for everything', () => {
    expect(config(['sentiment'])).toEqual({
      service: 'sentiment',
      host: undefined,
      port: 8000,
      grpcPort: null,
      managementPort: null,
      listenAfterMs: 10_000,
      managementHost: '127.0.0.1',
      sentimentModelDir: '/package/models/sentiment',
      eegModelPath: '/home/user/eeg_model.pt',
      modelsDir: null,
      modelPaths: [],
      modelsWatch: false,
      guardFile: null,
      modelName: null,
      instructionSet: null,
      scheduling: {
        workers: 8,
        threadsPerWorker: 1,
        dtype: 'float32',
        attentionDtype: 'auto',
        maxBatchTokens: 512,
        maxBatchRequests: 32,
        maxQueueDelayMs: 0,
        maxQueueRequests: 2048,
        inferenceTimeoutMs: 60_000,
        maxQueueWaitMs: 1000,
        resultCacheMb: 0,
        allowedOperators: [],
      },
      maxListLength: 1024,
      requestTimeoutMs: 30_000,
      inferenceGraceMs: 30_000,
      filesDir: null,
      fileLimit: 200 * 1024 ** 2,
      filesLimit: 10 * 1024 ** 3,
      maxFiles: 10_000,
      maxFileLines: 50_000,
      maxBatches: 100,
      bodyLimit: 1024 ** 2,
      bodyMemory: 64 * 1024 ** 2,
      responseLimit: 32 * 1024 ** 2,
      maxConnections: 924,
      maxConnectionRequests: 0,
      keepAliveTimeoutMs: 65_000,
      access: {
        apiKey: null,
        apiKeysFile: null,
        metricsRequireKey: true,
        tlsCertFile: null,
        tlsKeyFile: null,
        corsOrigins: [],
        allowedHosts: [],
      },
      shutdownDelayMs: 0,
      shutdownTimeoutMs: 25_000,
      logLevel: 'info',
      tracing: null,
      warnings: [],
    });
  });

  it('takes what torch.export saved where that is the only signal model', () => {
    const workingDirectory = mkdtempSync(path.join(os.tmpdir(), 'config-'));
    const eegModel = (variables: NodeJS.ProcessEnv = {}): string => {
      const result = readCommand(['eeg'], { ...ENVIRONMENT, workingDirectory, variables });
      return path.basename((result as { readonly config: Config }).config.eegModelPath);
    };
    try {
      expect(eegModel()).toBe('eeg_model.pt');
      writeFileSync(path.join(workingDirectory, 'eeg_model.pt2'), '');
      expect(eegModel()).toBe('eeg_model.pt2');
      expect(eegModel({ EEG_MODEL_PATH: 'eeg_model.pt' })).toBe('eeg_model.pt');
      writeFileSync(path.join(workingDirectory, 'eeg_model.pt'), '');
      expect(eegModel()).toBe('eeg_model.pt');
      expect(eegModel({ EEG_MODEL_PATH: 'eeg_model.pt2' })).toBe('eeg_model.pt2');
    } finally {
      rmSync(workingDirectory, { recursive: true });
    }
  });

  it('reads every setting from the environment', () => {
    const read = config(['eeg'], {
      HOST: '127.0.0.1',
      PORT: '0',
      GRPC_PORT: '0',
      MANAGEMENT_PORT: '8081',
      LISTEN_AFTER_MS: '20000',
      MANAGEMENT_HOST: '::1',
      SENTIMENT_MODEL_DIR: 'some/model',
      EEG_MODEL_PATH: '/abs/model.pt',
      WORKERS: '2',
      THREADS_PER_WORKER: '3',
      ATTENTION_DTYPE: 'float32',
      INSTRUCTION_SET: 'avx2',
      MODELS_DIR: 'many',
      MODELS_WATCH: 'true',
      GUARD_FILE: 'guard.json',
      MODEL_NAME: 'films-2',
      MAX_BATCH_TOKENS: '512',
      MAX_BATCH_REQUESTS: '4',
      MAX_QUEUE_DELAY_MS: '5',
      MAX_QUEUE_REQUESTS: '8',
      RESULT_CACHE_MB: '16',
      MAX_LIST_LENGTH: '7',
      REQUEST_TIMEOUT_MS: '700',
      INFERENCE_TIMEOUT_MS: '800',
      INFERENCE_GRACE_MS: '850',
      ALLOWED_OPERATORS: 'aten::as_strided, prim::data',
      BODY_LIMIT: '512kb',
      BODY_MEMORY: '2mb',
      RESPONSE_LIMIT: '1536kb',
      MAX_CONNECTIONS: '33',
      MAX_CONNECTION_REQUESTS: '34',
      KEEP_ALIVE_TIMEOUT_MS: '620000',
      FILES_DIR: 'batches',
      FILE_LIMIT: '3mb',
      FILES_LIMIT: '30mb',
      MAX_FILES: '35',
      MAX_FILE_LINES: '36',
      MAX_BATCHES: '37',
      API_KEYS_FILE: 'keys',
      METRICS_REQUIRE_KEY: 'FALSE',
      TLS_CERT_FILE: '/abs/cert.pem',
      TLS_KEY_FILE: 'key.pem',
      CORS_ORIGINS: 'https://a.example, http://localhost:3000,capacitor://localhost',
      ALLOWED_HOSTS: 'Models.example, models',
      SHUTDOWN_DELAY_MS: '300',
      SHUTDOWN_TIMEOUT_MS: '900',
      LOG_LEVEL: 'debug',
    });
    expect(read).toEqual({
      service: 'eeg',
      host: '127.0.0.1',
      port: 0,
      grpcPort: 0,
      managementPort: 8081,
      listenAfterMs: 20000,
      managementHost: '::1',
      sentimentModelDir: '/home/user/some/model',
      eegModelPath: '/abs/model.pt',
      modelsDir: '/home/user/many',
      modelPaths: [],
      modelsWatch: true,
      guardFile: '/home/user/guard.json',
      modelName: 'films-2',
      instructionSet: 'avx2',
      scheduling: {
        workers: 2,
        threadsPerWorker: 3,
        dtype: 'float32',
        attentionDtype: 'float32',
        maxBatchTokens: 512,
        maxBatchRequests: 4,
        maxQueueDelayMs: 5,
        maxQueueRequests: 8,
        inferenceTimeoutMs: 800,
        maxQueueWaitMs: 1000,
        resultCacheMb: 16,
        allowedOperators: ['aten::as_strided', 'prim::data'],
      },
      maxListLength: 7,
      requestTimeoutMs: 700,
      inferenceGraceMs: 850,
      filesDir: '/home/user/batches',
      fileLimit: 3 * 1024 ** 2,
      filesLimit: 30 * 1024 ** 2,
      maxFiles: 35,
      maxFileLines: 36,
      maxBatches: 37,
      bodyLimit: 512 * 1024,
      bodyMemory: 2 * 1024 ** 2,
      responseLimit: 1536 * 1024,
      maxConnections: 33,
      maxConnectionRequests: 34,
      keepAliveTimeoutMs: 620_000,
      access: {
        apiKey: null,
        apiKeysFile: '/home/user/keys',
        metricsRequireKey: false,
        tlsCertFile: '/abs/cert.pem',
        tlsKeyFile: '/home/user/key.pem',
        corsOrigins: ['https://a.example', 'http://localhost:3000', 'capacitor://localhost'],
        allowedHosts: ['models.example', 'models'],
      },
      shutdownDelayMs: 300,
      shutdownTimeoutMs: 900,
      logLevel: 'debug',
      tracing: null,
      warnings: ['FILES_DIR: no effect on eeg. Use the command serve or models'],
    });
  });

  it.each([
    [['sentiment', '--port', '9000']],
    [['sentiment', '--port=9000']],
    [['--port', '9000', 'sentiment']],
    [['sentiment', '--PORT', '9000']],
    [['sentiment', '--port', '1', '--port', '9000']],
  ])('takes the flags %j', (args) => {
    expect(config(args, { PORT: '7' }).port).toBe(9000);
  });

  it.each(['--max-batch-tokens=64', '--max_batch_tokens=64', '--MAX_BATCH_TOKENS=64'])(
    'takes the spelling %s',
    (flag) => {
      expect(config(['eeg', flag]).scheduling.maxBatchTokens).toBe(64);
    },
  );

  it('lets lists be no longer than the queue', () => {
    expect(config(['eeg'], { MAX_QUEUE_REQUESTS: '6' }).maxListLength).toBe(6);
    expect(config(['eeg'], { MAX_QUEUE_REQUESTS: '4096' }).maxListLength).toBe(1024);
    expect(problems(['eeg'], { MAX_LIST_LENGTH: '4096' })).toEqual([
      'MAX_LIST_LENGTH: expected at most MAX_QUEUE_REQUESTS, 2048, received 4096: ' +
        'the queue cannot hold such a list',
    ]);
  });

  it('leaves time to answer after the delay of a shutdown', () => {
    const times = (delay: string) => ({ SHUTDOWN_DELAY_MS: delay, SHUTDOWN_TIMEOUT_MS: '1000' });
    expect(config(['eeg'], times('500')).warnings).toEqual([]);
    expect(config(['eeg'], times('501')).warnings).toEqual([
      'SHUTDOWN_DELAY_MS: 501 of the 1000 ms of SHUTDOWN_TIMEOUT_MS leave 499 ms for accepted requests',
    ]);
    expect(problems(['eeg'], times('1000'))).toEqual([
      'SHUTDOWN_DELAY_MS: expected less than SHUTDOWN_TIMEOUT_MS, 1000, received 1000: ' +
        'no time would be left for accepted requests',
    ]);
  });

  it('has room for the largest body', () => {
    expect(config(['eeg'], { BODY_LIMIT: '200mb' }).bodyMemory).toBe(200 * 1024 ** 2);
    // A response may repeat a body.
    expect(config(['eeg'], { BODY_LIMIT: '20mb' }).responseLimit).toBe(40 * 1024 ** 2);
    expect(problems(['eeg'], { BODY_LIMIT: '2kb', BODY_MEMORY: '1kb' })).toEqual([
      'BODY_MEMORY: expected at least BODY_LIMIT, 2048, received 1024: ' +
        'bodies of the maximum size would always be rejected',
    ]);
  });

  it('keeps some of the descriptors that are granted for itself', () => {
    const connections = (descriptorsGranted: number, variables = {}) => {
      const result = readCommand(['eeg'], {
        ...ENVIRONMENT,
        maxDescriptors: descriptorsGranted,
        variables,
      });
      if (result.type !== 'serve') throw new Error(result.type);
      return [result.config.maxConnections, result.config.warnings];
    };
    expect(connections(1_048_576)).toEqual([10_000, []]);
    expect(connections(256)).toEqual([156, []]);
    expect(connections(64)).toEqual([16, []]);
    expect(connections(256, { GRPC_PORT: '0' })).toEqual([78, []]);
    expect(connections(256, { GRPC_PORT: '' })).toEqual([156, []]);
    expect(connections(256, { MAX_CONNECTIONS: '157' })).toEqual([
      157,
      [
        'MAX_CONNECTIONS: 157 connections exceed the 256 file descriptors of this process (ulimit -n). ' +
          'Raise the limit',
      ],
    ]);
  });

  it('takes a key, and warns of one that is a flag', () => {
    const set = config(['eeg'], { API_KEY: 'a-key' });
    expect([set.access.apiKey, set.warnings]).toEqual(['a-key', []]);
    const flag = config(['eeg', '--api-key', 'a-key']);
    expect([flag.access.apiKey, flag.warnings]).toEqual([
      'a-key',
      ['API_KEY: a flag is visible to all users of this machine. Use an environment variable'],
    ]);
  });

  it.each([
    ['a key that no header can hold', { API_KEY: 'secret key' }],
    ['a key of other characters', { API_KEY: 'sécret' }],
    ['a key that is too long', { API_KEY: `secret${'x'.repeat(1024)}` }],
  ])('refuses %s without quoting it', (_name, environment) => {
    expect(problems(['eeg'], environment)).toEqual([
      'API_KEY: expected up to 1024 visible ASCII characters without spaces',
    ]);
  });

  it.each(['API_KEY', 'API_KEYS_FILE', 'TLS_CERT_FILE', 'TLS_KEY_FILE'])(
    'opens nothing because %s is empty',
    (name) => {
      const line = `${name}: expected a value, received an empty text. Set a value or unset it`;
      expect(problems(['eeg'], { [name]: ' ' })).toEqual([line]);
      expect(problems(['eeg', `--${name.replaceAll('_', '-')}=`])).toEqual([line]);
    },
  );

  it.each([
    [
      { API_KEY: 'a', API_KEYS_FILE: 'keys' },
      'API_KEY: expected either API_KEY or API_KEYS_FILE. Move the key into the file',
    ],
    [{ PORT: '9000', GRPC_PORT: '9000' }, 'GRPC_PORT: expected a port other than PORT, 9000'],
    [
      { MANAGEMENT_PORT: '9000', GRPC_PORT: '9000' },
      'MANAGEMENT_PORT: expected a port other than PORT and GRPC_PORT, 9000',
    ],
    [{ GRPC_PORT: 'no' }, 'GRPC_PORT: expected an integer from 0 to 65535, received "no"'],
    [{ GRPC_PORT: '65536' }, 'GRPC_PORT: expected an integer from 0 to 65535, received "65536"'],
    [{ TLS_CERT_FILE: 'c' }, 'TLS_KEY_FILE: required by TLS_CERT_FILE. Set both'],
    [{ TLS_KEY_FILE: 'k' }, 'TLS_CERT_FILE: required by TLS_KEY_FILE. Set both'],
    [{ METRICS_REQUIRE_KEY: 'no' }, 'METRICS_REQUIRE_KEY: expected true or false, received "no"'],
    [
      { KEEP_ALIVE_TIMEOUT_MS: '0' },
      'KEEP_ALIVE_TIMEOUT_MS: expected an integer from 1 to 2147483647, received "0"',
    ],
  ])('says what does not go together in %j', (environment, line) => {
    expect(problems(['eeg'], environment)).toEqual([line]);
  });

  it.each([
    'https://a.example/',
    'https://A.example',
    'https://a.example:443',
    'a.example',
    'null',
    '*,https://a.example',
    'https://a.example,',
    'https://a.example https://b.example',
    'https://*.example',
  ])('refuses CORS_ORIGINS %s, which no browser sends', (text) => {
    expect(problems(['eeg'], { CORS_ORIGINS: text })).toEqual([
      'CORS_ORIGINS: expected * or origins such as https://example.org, separated by commas, ' +
        `received "${text}"`,
    ]);
  });

  it('takes all origins', () => {
    expect(config(['eeg'], { CORS_ORIGINS: '*' }).access.corsOrigins).toEqual(['*']);
  });

  it.each([
    'https://a.example',
    'a.example:8000',
    '*.example',
    '.a.example',
    'a,,b',
    'münchen.example',
  ])('refuses ALLOWED_HOSTS %s, which is no name', (text) => {
    expect(problems(['eeg'], { ALLOWED_HOSTS: text })).toEqual([
      'ALLOWED_HOSTS: expected * or host names without a port such as models.example.org, ' +
        `separated by commas, received "${text}"`,
    ]);
    expect(config(['eeg'], { ALLOWED_HOSTS: '*' }).access.allowedHosts).toEqual(['*']);
  });

  it('takes an empty variable for not set', () => {
    expect(config(['eeg'], { PORT: '', LOG_LEVEL: ' ', HOST: '' })).toEqual(config(['eeg']));
  });

  it.each([
    ['1', 1],
    ['1048576', 1048576],
    ['12b', 12],
    ['512KB', 512 * 1024],
    ['2mb', 2 * 1024 ** 2],
    ['256 MB', 256 * 1024 ** 2],
  ])('takes BODY_LIMIT %s', (text, bytes) => {
    expect(config(['eeg'], { BODY_LIMIT: text }).bodyLimit).toBe(bytes);
  });

  it.each(['0', '-1', '1.5mb', 'mb', '1tb', '257mb', '1e6'])('refuses BODY_LIMIT %s', (text) => {
    expect(problems(['eeg'], { BODY_LIMIT: text })).toEqual([
      'BODY_LIMIT: expected a size such as 1048576, 512kb or 1mb, at most 268435456 bytes, ' +
        `received "${text}"`,
    ]);
  });

  it.each([
    [{ PORT: 'abc' }, 'PORT: expected an integer from 0 to 65535, received "abc"'],
    [{ PORT: '65536' }, 'PORT: expected an integer from 0 to 65535, received "65536"'],
    [{ PORT: '-1' }, 'PORT: expected an integer from 0 to 65535, received "-1"'],
    [{ PORT: '8e3' }, 'PORT: expected an integer from 0 to 65535, received "8e3"'],
    [{ PORT: '80.5' }, 'PORT: expected an integer from 0 to 65535, received "80.5"'],
    [{ WORKERS: '0' }, 'WORKERS: expected an integer from 1 to 1024, received "0"'],
    [{ HOST: 'a b' }, 'HOST: expected a host name or an address, received "a b"'],
    [
      { LOG_LEVEL: 'loud' },
      'LOG_LEVEL: expected one of trace, debug, info, warn, error, fatal, silent, received "loud"',
    ],
  ])('says what is wrong with %j', (environment, line) => {
    expect(problems(['eeg'], environment)).toEqual([line]);
  });

  it('lists everything that is wrong', () => {
    const lines = problems(['eeg', '--bogus', '1', '--workers', 'x'], { PORT: 'abc' });
    expect(lines).toEqual([
      '--bogus: unknown setting; see --help',
      'PORT: expected an integer from 0 to 65535, received "abc"',
      'WORKERS: expected an integer from 1 to 1024, received "x"',
    ]);
  });

  it('takes a directory of models as a word or as a setting, and needs one', () => {
    expect(config(['models', 'many']).modelsDir).toBe('/home/user/many');
    expect(config(['models', '--models-dir', '/abs'])).toMatchObject({
      service: 'models',
      modelsDir: '/abs',
    });
    expect(problems(['models'])).toEqual([
      'MODELS_DIR: required by models. Set it, or append the directory to models',
    ]);
    expect(problems(['eeg', '--model-name', '../x'])).toEqual([
      expect.stringMatching(/^MODEL_NAME: expected letters, digits/),
    ]);
  });

  it('takes paths of models for serve, or MODELS_DIR', () => {
    expect(config(['serve', 'many', '/abs/model.pt', 'many', '--workers', '1'])).toMatchObject({
      service: 'models',
      modelsDir: null,
      modelPaths: ['/home/user/many', '/abs/model.pt'],
    });
    expect(config(['serve'], { MODELS_DIR: '/srv' }).modelPaths).toEqual(['/srv']);
    expect(config(['models', 'many']).modelPaths).toEqual(['/home/user/many']);
    expect(problems(['serve'])).toEqual([
      'MODELS_DIR: required by serve. Set it, or append paths to serve',
    ]);
  });

  it('wants exactly one service', () => {
    const line = (received: string) =>
      `expected a command, serve PATH, models DIRECTORY, sentiment or eeg, received ${received}`;
    expect(problems([])).toEqual([line('nothing')]);
    expect(problems(['both'])).toEqual([line('both')]);
    expect(problems(['eeg', 'sentiment'])).toEqual([line('eeg sentiment')]);
  });

  it.each([[['eeg', '--port']], [['eeg', '--port', '--workers=1']]])(
    'wants a value in %j',
    (args) => {
      expect(problems(args)).toEqual(['--port: expected a value']);
    },
  );

  it('does not take a property of every object for a setting', () => {
    expect(problems(['eeg', '--constructor=1', '--to-string=2'])).toHaveLength(2);
    expect(problems(['eeg', '--__proto__=1'])).toHaveLength(1);
  });

  it('splits the cores among workers', () => {
    const workers = (variables: NodeJS.ProcessEnv) => config(['eeg'], variables).scheduling.workers;
    expect(workers({ THREADS_PER_WORKER: '2' })).toBe(4);
    expect(workers({ THREADS_PER_WORKER: '3' })).toBe(2);
    expect(workers({ THREADS_PER_WORKER: '100' })).toBe(1);
  });

  it('warns about more threads than cores', () => {
    expect(config(['eeg'], { WORKERS: '3', THREADS_PER_WORKER: '3' }).warnings).toEqual([
      expect.stringContaining('9 threads (WORKERS × THREADS_PER_WORKER) on 8 available cores'),
    ]);
  });

  it('knows help and version', () => {
    expect(command(['--help'])).toEqual({ type: 'help', isComplete: false });
    expect(command(['eeg', '--port', 'abc', '-h'])).toEqual({ type: 'help', isComplete: false });
    expect(command(['--version'])).toEqual({ type: 'version' });
    expect(command(['build'])).toEqual({ type: 'build' });
    expect(command(['install'])).toEqual({ type: 'install' });
  });
});

describe('helpText', () => {
  it('has lines of at most 100 characters for batch commands', () => {
    const lines = Object.values(BATCH_COMMANDS).flatMap((command) =>
      batchHelp(command).split('\n'),
    );
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
  });

  it.each([true, false])('has lines of at most 100 characters (all settings: %s)', (isComplete) => {
    const lines = helpText(isComplete).split('\n');
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
  });

  it('shows the main settings first, and every setting with its default with "all"', () => {
    const text = helpText(true).replaceAll(/\n {29}/g, ' ');
    expect(text).toMatch(/--port +TCP port.*\(default: 8000\)/);
    expect(text).toMatch(/--sentiment-model-dir .*\(default: the shipped model\)/);
    expect(text).toMatch(/--body-limit .*\(default: 1mb\)/);
    for (const { help } of Object.values(SETTINGS)) expect(help.length).toBeLessThanOrEqual(100);
    expect(helpText(false)).toMatch(/--port .*\n/);
    expect(helpText(false)).not.toContain('--body-limit');
    expect(helpText(false).match(/^ {2}--[a-z-]+ /gm)).toHaveLength(10);
  });

  it('has each setting in one topic', () => {
    const names = Object.values(TOPICS).flat();
    expect([...names].sort()).toEqual(Object.keys(SETTINGS).sort());
  });
});
