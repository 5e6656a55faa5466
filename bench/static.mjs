/**
 * Static embeddings: texts per second, and per second of processor time, in process, of batch files and over HTTP; with
 * other built checkouts in turn. Medians over the rounds.
 *
 *   node bench/static.mjs [OTHER_CHECKOUT] --tokenizer tokenizer.json --texts dev.tsv [--dimensions 256] [--rounds 5]
 *     [--seconds 2] [--only in-process,files,http]
 *
 * The model has random vectors. The texts are the first column of a file, without its header. Processor time is that of
 * the whole process under test. Needs a built service (npm run build).
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { load, prepareRequest } from './load.mjs';
import { describeMachine, machineType } from './machine.mjs';
import { BENCH, ROOT } from './paths.mjs';
import { inTurn, median } from './report.mjs';
import { freePort, startProcess, usage } from './servers.mjs';
import { writeStaticModel } from './static/model.mjs';
import { textsOf } from './texts.mjs';

const TEXTS = 8192;
const ROWS = 32_768;
const CLIENTS = 2;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tokenizer: { type: 'string' },
    texts: { type: 'string' },
    dimensions: { type: 'string', default: '256' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: 'in-process,files,http' },
  },
});
if (!options.tokenizer || !options.texts) {
  console.error('usage: node bench/static.mjs [OTHER_CHECKOUT] --tokenizer FILE --texts FILE');
  process.exit(2);
}
const seconds = Number(options.seconds);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-static-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true }));
const model = path.join(folder, 'static');
writeStaticModel(model, options.tokenizer, Number(options.dimensions));
const own = textsOf([options.texts]);
const texts = Array.from({ length: TEXTS }, (_, i) => own[i % own.length]);

function inProcess(root, size) {
  const input = JSON.stringify({ model, texts, size, seconds });
  const script = path.join(BENCH, 'static/in-process.mjs');
  const child = spawnSync(process.execPath, [script, root], { input, encoding: 'utf8' });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout);
}

/** Time of a job, in seconds: elapsed, and of the processor. */
function timeJob(root, rows) {
  const input = path.join(folder, `${rows}.jsonl`);
  if (!fs.existsSync(input)) {
    const lines = Array.from({ length: rows }, (_, i) =>
      JSON.stringify({ text: own[i % own.length] }),
    );
    fs.writeFileSync(input, `${lines.join('\n')}\n`);
  }
  const output = path.join(folder, 'out.npy');
  const timed = `TIMEFORMAT='cpu %R %U %S'; time "$0" "$@"`;
  const job = [path.join(root, 'dist/main.js'), 'embed', '--model', model, input];
  const args = ['-c', timed, process.execPath, ...job, '--output', output, '--overwrite'];
  const { status, stderr } = spawnSync('bash', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const [, elapsed, user, system] = /cpu ([\d.]+) ([\d.]+) ([\d.]+)\s*$/.exec(stderr);
  return { elapsed: Number(elapsed), cpu: Number(user) + Number(system) };
}

/** The times of a job with one row are taken off. */
function files(root) {
  const [one, all] = [timeJob(root, 1), timeJob(root, ROWS)];
  return { texts: ROWS, seconds: all.elapsed - one.elapsed, cpu: all.cpu - one.cpu };
}

async function http(root, { size, format }) {
  const port = await freePort();
  const env = {
    ...process.env,
    PORT: String(port),
    LOG_LEVEL: 'error',
    MAX_QUEUE_WAIT_MS: '30000',
  };
  const args = [path.join(root, 'dist/main.js'), 'serve', model];
  const server = startProcess([process.execPath, ...args], { env, stdio: 'ignore' });
  try {
    await ready(port);
    const requests = [];
    for (let i = 0; i + size <= texts.length; i += size) {
      const input = texts.slice(i, i + size);
      const body = { model: 'static', input, encoding_format: format };
      requests.push(prepareRequest('/v1/embeddings', JSON.stringify(body)));
    }
    const loadFor = (duration) =>
      load({ port, requests, clients: CLIENTS, seconds: duration, warmup: 0 });
    await loadFor(seconds / 2);
    const before = usage(server.child.pid).cpu;
    const { answered, bad } = await loadFor(seconds);
    if (bad > 0) throw new Error(`${root}: ${bad} requests failed`);
    const cpu = usage(server.child.pid).cpu - before;
    return { texts: answered * size, seconds, cpu };
  } finally {
    await server.stop();
  }
}

async function ready(port) {
  for (let tries = 0; tries < 600; tries++) {
    const { status } = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => ({}));
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the server did not start');
}

const CASES = {
  'in-process': [32, 1024].map((size) => ({
    name: `in process, lists of ${size}`,
    measure: (root) => inProcess(root, size),
  })),
  files: [{ name: 'batch files, npy', measure: files }],
  http: [32, 1000].flatMap((size) =>
    ['base64', 'float'].map((format) => ({
      name: `HTTP, lists of ${size}, ${format}`,
      measure: (root) => http(root, { size, format }),
    })),
  ),
};

const roots = [ROOT, ...positionals.map((root) => path.resolve(root))];
console.log(`${machineType(describeMachine())}; medians of ${options.rounds} rounds`);
const table = {};
for (const { name, measure } of options.only.split(',').flatMap((part) => CASES[part])) {
  const rounds = await inTurn(roots, Number(options.rounds), measure);
  const digests = new Set(rounds.flat().map(({ digest }) => digest));
  if (digests.size > 1) throw new Error(`${name}: the embeddings differ`);
  const columns = roots.map((_, side) => {
    const all = rounds.map((round) => round[side]);
    const perSecond = median(all.map((one) => one.texts / one.seconds));
    const perCore = median(all.map((one) => one.texts / one.cpu));
    return { perSecond: Math.round(perSecond), perCore: Math.round(perCore) };
  });
  table[name] = Object.fromEntries(
    columns.flatMap(({ perSecond, perCore }, side) => [
      [side ? `texts/s, other ${side}` : 'texts/s', perSecond],
      [side ? `texts/CPU s, other ${side}` : 'texts/CPU s', perCore],
    ]),
  );
  console.log(name, JSON.stringify(table[name]));
}
console.table(table);
