/**
 * The tarballs of a release, installed where there is Node.js and nothing else. Run by
 * `npm run test:install`, as root, with debootstrap; LibTorch comes from the network. RELEASE names another
 * release of Debian than bookworm.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { EmptySystem } from '../helpers/empty-system';
import { ROOT } from '../helpers/service';

const LIMIT_MS = 1_200_000;
jest.setTimeout(LIMIT_MS);

/** Debian 12: glibc 2.36. */
const RELEASE = process.env.RELEASE ?? 'bookworm';
/** Debian 11: glibc 2.31, which is too old for the prebuilt addon. */
const TOO_OLD = 'bullseye';

let tarballs: string[];
let folder: string;
const systems: EmptySystem[] = [];

function system(release: string): EmptySystem {
  const made = new EmptySystem(release);
  systems.push(made);
  made.give(tarballs);
  return made;
}

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'install-'));
  const script = path.join(ROOT, 'scripts', 'release.mjs');
  execFileSync(process.execPath, [script, folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  tarballs = readdirSync(folder)
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => path.join(folder, name));
});
afterAll(() => {
  for (const made of systems) made.remove();
  rmSync(folder, { recursive: true });
});

const NPM = 'node /opt/npm/bin/npm-cli.js';
const NPX = 'node /opt/npm/bin/npx-cli.js';
const INSTALL = `${NPM} install --no-audit --no-fund --loglevel=error ./*.tgz`;

/** Starts a service, asks it once, and stops it; its standard error, and the time until it listened. */
async function serve(
  on: EmptySystem,
  name: 'sentiment' | 'eeg',
  { env, ask }: { env: Record<string, string>; ask: (origin: string) => Promise<Response> },
) {
  const startedAt = performance.now();
  const child = on.start(`${NPX} libtorch-serve ${name}`, { HOST: '127.0.0.1', PORT: '0', ...env });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
    process.stderr.write(chunk);
  });
  let answer: unknown;
  let seconds = Number.NaN;
  for await (const line of readline.createInterface({
    input: child.stdout as NodeJS.ReadableStream,
  })) {
    const { msg, port } = JSON.parse(line) as { readonly msg: string; readonly port?: number };
    if (msg !== 'listening') continue;
    seconds = (performance.now() - startedAt) / 1000;
    const response = await ask(`http://127.0.0.1:${port}`);
    answer = { status: response.status, ...((await response.json()) as object) };
    process.kill(-(child.pid as number), 'SIGTERM');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  return { answer, stderr, seconds };
}

const post = (route: string, body: object) => (origin: string) =>
  fetch(origin + route, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

it(`installs and serves on ${RELEASE} without compiler, Rust and Python`, async () => {
  const bare = system(RELEASE);
  const tools = 'cc c++ gcc g++ clang make cmake ninja cargo rustc python python3 pip curl wget';
  const search = `sh -c 'for tool in ${tools}; do command -v $tool; done; ldd --version 2>&1 | head -n 1'`;
  const { stdout: found } = await bare.run(search);
  expect(found.trim().split('\n')).toEqual([expect.stringContaining('ldd')]);

  const installed = await bare.run(INSTALL);
  expect(installed).toMatchObject({ code: 0 });

  const analyze = { env: {}, ask: post('/analyze', { text: 'A warm, funny film.' }) };
  const first = await serve(bare, 'sentiment', analyze);
  expect(first.answer).toMatchObject({ status: 200, label: 'POSITIVE' });
  expect(first.stderr).toMatch(/LibTorch [\d.]+: fetching \d+ MB, once for all projects/);

  const second = await serve(bare, 'sentiment', analyze);
  expect(second.answer).toEqual(first.answer);
  expect(second.stderr).not.toContain('fetching');

  const model = 'node_modules/libtorch-serve/models/eeg/eeg_model.pt';
  const signal = Array.from({ length: 256 }, (_, i) => Math.sin(i / 8));
  const predict = {
    env: { EEG_MODEL_PATH: model },
    ask: post('/predict', { patient_id: 'P001', signal }),
  };
  const eeg = await serve(bare, 'eeg', predict);
  expect(eeg.answer).toMatchObject({ status: 200, patient_id: 'P001' });

  const sizes = await bare.run('du -sm node_modules .cache/libtorch-serve');
  const times = `first start ${first.seconds.toFixed(1)} s, next start ${second.seconds.toFixed(1)} s`;
  process.stderr.write(`${found}${sizes.stdout}${times}\n`);
});

it(`says on ${TOO_OLD} that the system is too old, before it fetches anything`, async () => {
  const old = system(TOO_OLD);
  expect(await old.run(INSTALL)).toMatchObject({ code: 0 });
  const load = `require('libtorch-serve').SentimentEngine.load({ modelDirectory: 'node_modules/libtorch-serve/models/sentiment' }).catch((error) => console.log(error.message))`;
  const { stdout } = await old.run(`node -e "${load}"`);
  expect(stdout).toMatch(
    /^The prebuilt addon needs the GNU C library [\d.]+ or newer; this system has 2\.31\. 1\. .* 2\. Or compile it: `npx libtorch-serve build`\./,
  );
});
