/** `libtorch-serve import-torchserve`: TorchServe's config.properties as our settings. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'import-torchserve-'));
  mkdirSync(path.join(folder, 'store'));
  for (const name of ['reviews.mar', 'films-2.mar', 'waves.mar']) {
    writeFileSync(path.join(folder, 'store', name), name);
  }
});

afterEach(() => rmSync(folder, { recursive: true }));

function run(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(ROOT, 'dist/main.js'), 'import-torchserve', ...args],
      { cwd: folder },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

function write(...lines: readonly string[]): void {
  writeFileSync(path.join(folder, 'config.properties'), lines.join('\n'));
}

function settings(output: string): Record<string, string> {
  const lines = readFileSync(path.join(folder, output, 'libtorch-serve.env'), 'utf8')
    .trimEnd()
    .split('\n');
  return Object.fromEntries(lines.map((line) => line.split('=') as [string, string]));
}

const json = (...parts: readonly string[]): unknown =>
  JSON.parse(readFileSync(path.join(folder, ...parts), 'utf8'));

it('writes settings and folders of models, and says what has no meaning', async () => {
  write(
    'inference_address=http://0.0.0.0:9080',
    'management_address=http://127.0.0.1:9081',
    'metrics_address=http://127.0.0.1:9082',
    'model_store=store',
    'load_models=waves.mar',
    'job_queue_size=64',
    'max_request_size=6553500',
    'default_response_timeout=90',
    'cors_allowed_origin=https://example.org',
    'private_key_file=tls.key',
    'certificate_file=tls.pem',
    'number_of_netty_threads=32',
    'keystore_pass=changeit',
    'somethingNew=1',
    'models={\\',
    '  "films": {\\',
    '    "1.0": {"defaultVersion": true, "marName": "reviews.mar", "batchSize": 4, "jobQueueSize": 7},\\',
    '    "2.0": {"marName": "films-2.mar", "minWorkers": 1, "batchSize": 8, "responseTimeout": 120}\\',
    '  }\\',
    '}',
  );
  const { code, stdout, stderr } = await run('config.properties', '--output', 'out');
  expect([code, stderr]).toEqual([0, '']);
  expect(settings('out')).toEqual({
    MODELS_DIR: path.join(folder, 'out/models'),
    HOST: '0.0.0.0',
    PORT: '9080',
    MAX_QUEUE_REQUESTS: '64',
    BODY_LIMIT: '6553500',
    INFERENCE_TIMEOUT_MS: '120000',
    MAX_BATCH_REQUESTS: '8',
    MANAGEMENT_HOST: '127.0.0.1',
    MANAGEMENT_PORT: '9081',
    CORS_ORIGINS: 'https://example.org',
    TLS_KEY_FILE: path.join(folder, 'tls.key'),
    TLS_CERT_FILE: path.join(folder, 'tls.pem'),
  });
  const films = path.join(folder, 'out/models/films');
  expect(readdirSync(films).sort()).toEqual(['1', '2', 'model.json']);
  // The default version answers where none is named: it has the highest number.
  expect(readFileSync(path.join(films, '2/reviews.mar'), 'utf8')).toBe('reviews.mar');
  expect(readFileSync(path.join(films, '1/films-2.mar'), 'utf8')).toBe('films-2.mar');
  expect(json('out/models/films/model.json')).toEqual({ max_queue_requests: 7, versions: 'all' });
  expect(json('out/models/waves/model.json')).toEqual({});
  for (const key of ['metrics_address', 'number_of_netty_threads', 'keystore_pass']) {
    expect(stdout).toMatch(new RegExp(`^ {2}${key}: .+`, 'm'));
  }
  expect(stdout).toMatch(/^ {2}somethingNew: unknown key$/m);
  expect(stdout).toMatch(/^ {2}models: films: 2\.0: minWorkers: each model is in memory once/m);
  expect(stdout).not.toContain('changeit');
});

it('takes all archives of the store, and the addresses that TorchServe takes by itself', async () => {
  write('model_store=store', 'load_models=all');
  expect((await run('config.properties')).code).toBe(0);
  expect(settings('torchserve-import')).toMatchObject({ HOST: '127.0.0.1', PORT: '8080' });
  const models = path.join(folder, 'torchserve-import/models');
  expect(readdirSync(models).sort()).toEqual(['films-2', 'reviews', 'waves']);
});

it('says what is wrong, with all of it, and writes nothing', async () => {
  write('job_queue_size=many', 'inference_address=unix:/tmp/x', 'load_models=gone.mar');
  const { code, stderr } = await run('config.properties');
  expect(code).toBe(1);
  expect(stderr.trimEnd().split('\n')).toEqual([
    'libtorch-serve import-torchserve: job_queue_size: as MAX_QUEUE_REQUESTS: expected an integer from 1 to 1048576, received "many"',
    'libtorch-serve import-torchserve: inference_address: expected http://HOST:PORT, received "unix:/tmp/x"',
    'libtorch-serve import-torchserve: gone.mar: not found in model_store',
  ]);
  expect(existsSync(path.join(folder, 'torchserve-import'))).toBe(false);
});

it("takes TorchServe's keys: one to ask all models, one to manage them", async () => {
  const until = '2026-11-24T05:12:24.801167Z';
  const keys = {
    management: { key: 'B-E5KSRM', 'expiration time': until },
    inference: { key: 'gNRuA7dS', 'expiration time': until },
    API: { key: 'yv9uQajP' },
  };
  write('model_store=store');
  writeFileSync(path.join(folder, 'key_file.json'), JSON.stringify(keys));
  const { code, stdout } = await run('config.properties', '--keys', 'key_file.json');
  expect(code).toBe(0);
  const file = path.join(folder, 'torchserve-import/api-keys');
  expect(settings('torchserve-import')).toMatchObject({ API_KEYS_FILE: file });
  expect(readFileSync(file, 'utf8')).toBe('gNRuA7dS models=*\nB-E5KSRM management\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(stdout).toMatch(/^ {2}keys\.inference, keys\.management: keys do not expire here/m);
  expect(stdout).not.toMatch(/gNRuA7dS|B-E5KSRM|yv9uQajP/);
});

it.each([
  ['no JSON', '{"management": secret'],
  ['half of the keys', '{"management": {"key": "secret"}}'],
  ['keys that are none', '{"management": {"key": "a secret"}, "inference": {"key": "secret"}}'],
])('refuses %s in the place of keys, without quoting it', async (_what, text) => {
  write('model_store=store');
  writeFileSync(path.join(folder, 'key_file.json'), text);
  const { code, stderr } = await run('config.properties', '--keys=key_file.json');
  expect([code, existsSync(path.join(folder, 'torchserve-import'))]).toEqual([1, false]);
  expect(stderr).toMatch(/^libtorch-serve import-torchserve: keys[.:].* expected /);
  expect(stderr).not.toContain('secret');
});

it('writes over nothing', async () => {
  write('model_store=store');
  expect((await run('config.properties')).code).toBe(0);
  const { code, stderr } = await run('config.properties');
  expect(code).toBe(1);
  expect(stderr).toMatch(/EEXIST/);
});

it('ends with 2 where the command line is wrong, with 1 where there is no such file', async () => {
  expect((await run()).code).toBe(2);
  expect((await run('a', 'b')).code).toBe(2);
  expect((await run('config.properties', '--output')).code).toBe(2);
  expect((await run('none.properties')).code).toBe(1);
  const { code, stdout } = await run('--help');
  expect([code, stdout.split('\n')[0]]).toEqual([
    0,
    'Usage: libtorch-serve import-torchserve config.properties [--output DIR] [--keys FILE]',
  ]);
});
