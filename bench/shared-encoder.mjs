/**
 * Six classifiers on one base, compared with classifiers on bases that differ in one number. Loads: the guardrail calls
 * all models for each text, and clients send different texts to single models. Texts per second, CPU time of a text,
 * memory.
 *
 *   node bench/shared-encoder.mjs [--model models/sentiment] [--models 6] [--rounds 3] [--seconds 3] [--load guardrail]
 *
 * Needs a built project (npm run build).
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { load, prepareRequest } from './load.mjs';
import { describeMachine, machineType } from './machine.mjs';
import { startModels } from './models-service.mjs';
import { ROOT } from './paths.mjs';
import { median } from './report.mjs';
import { usage } from './servers.mjs';

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: path.join(ROOT, 'models/sentiment') },
    models: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    load: { type: 'string', default: '' },
  },
});
const count = Number(options.models);
const LOADS = [
  { name: 'guardrail', clients: 1, models: count, pathOf: () => '/guard' },
  { name: 'guardrail', clients: 8, models: count, pathOf: () => '/guard' },
  {
    ...{ name: 'single models', clients: 24, models: 1 },
    pathOf: (index) => `/models/m${index % count}/analyze`,
  },
].filter(({ name }) => name.startsWith(options.load));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'libtorch-serve-bench-'));
/** Distinct texts: states of recent texts are kept. Each measurement gets further ones. */
const bodies = makeBodies('sentiment', 100_000);
let used = 0;

/** Changes the last number of the word embeddings. */
function changeBase(file, index) {
  const content = fs.readFileSync(file);
  const begin = 8 + Number(content.readBigUInt64LE(0));
  const header = JSON.parse(content.toString('utf8', 8, begin));
  const [name] = Object.keys(header).filter((key) => key.endsWith('word_embeddings.weight'));
  const last = begin + header[name].data_offsets[1] - 1;
  content[last - 1] ^= index; // a low bit of the exponent or of the mantissa
  fs.writeFileSync(file, content);
}

function directoryOf(kind) {
  const directory = path.join(folder, kind);
  const names = Array.from({ length: count }, (_, index) => `m${index}`);
  for (const [index, name] of names.entries()) {
    const model = path.join(directory, name);
    fs.cpSync(options.model, model, { recursive: true });
    fs.writeFileSync(path.join(model, 'model.json'), '{"required": true}');
    if (kind === 'several bases') changeBase(path.join(model, 'model.safetensors'), index);
  }
  const { id2label } = JSON.parse(fs.readFileSync(path.join(options.model, 'config.json'), 'utf8'));
  const checks = names.map((model) => ({
    ...{ type: 'text-classification', name: model, model, action: 'flag' },
    labels: { [id2label[0]]: 0.9 },
  }));
  fs.writeFileSync(path.join(directory, 'guard.json'), JSON.stringify({ checks }));
  return directory;
}

/** Texts of all models that needed no pass of the encoder. */
async function reusedBy(port) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const lines = text.matchAll(/^libtorch_serve_encoder_reused_total\{.*\} (\d+)$/gm);
  return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
}

async function measure({ port, pid }, { clients, models, pathOf }) {
  const size = 6000;
  const some = bodies
    .slice(used, used + size)
    .map((body, index) => prepareRequest(pathOf(index), body));
  used = (used + size) % (bodies.length - size);
  const [cpu, reused] = [usage(pid).cpu, await reusedBy(port)];
  const seconds = Number(options.seconds);
  const done = await load({ port, requests: some, seconds, warmup: 0.5, clients });
  if (done.bad > 0) throw new Error(`${done.bad} requests failed`);
  if (done.answered > size) throw new Error('texts were repeated: lower --seconds');
  return {
    ...done,
    cpu: (1000 * (usage(pid).cpu - cpu)) / done.answered,
    passes: models - ((await reusedBy(port)) - reused) / done.answered,
  };
}

console.log(machineType(describeMachine()));
try {
  const kinds = ['several bases', 'one base'];
  const servers = [];
  for (const kind of kinds) servers.push(await startModels(directoryOf(kind)));
  const rounds = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const plan of LOADS) {
      for (const [index, server] of servers.entries()) {
        rounds.push({ index, plan, ...(await measure(server, plan)) });
      }
    }
  }
  const rows = LOADS.flatMap((plan) =>
    kinds.map((kind, index) => {
      const own = rounds.filter((each) => each.index === index && each.plan === plan);
      const of = (read) => median(own.map(read));
      return {
        load: plan.name,
        clients: plan.clients,
        models: `${count} on ${kind}`,
        'texts/s': of(({ rps }) => rps).toFixed(1),
        'p50 ms': of(({ p50_ms }) => p50_ms).toFixed(2),
        'CPU ms of a text': of(({ cpu }) => cpu).toFixed(2),
        'encoder passes of a text': of(({ passes }) => passes).toFixed(2),
        'memory MB': usage(servers[index].pid).rss.toFixed(0),
      };
    }),
  );
  console.table(rows);
  for (const { stop } of servers) await stop();
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
