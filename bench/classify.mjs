/**
 * A command over files against the engine alone, fed with the same inputs in the same order.
 *
 * Usage: node bench/classify.mjs [--service sentiment|eeg] [--rows 8192] [--rounds 5] [--output out.jsonl]
 *        node bench/classify.mjs --command embed --model FOLDER [--input FILE.jsonl] [--output out.npy]
 *        node bench/classify.mjs --orders        the engine alone, in the file's order and by length
 *
 * Each round runs both, one after the other, in processes of their own. Rows a second are without
 * loading the model; so is processor time, which hardly depends on what else the machine does: that of
 * the same command with one row is taken off.
 * The ratio is taken within a round, then the median is.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { median } from './report.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const DIRECT = path.join(ROOT, 'bench', 'classify-direct.mjs');
const MAIN = path.join(ROOT, 'dist', 'main.js');

const { values } = parseArgs({
  options: {
    command: { type: 'string', default: 'classify' },
    service: { type: 'string', default: 'sentiment' },
    model: { type: 'string' },
    input: { type: 'string' },
    rows: { type: 'string', default: '8192' },
    rounds: { type: 'string', default: '5' },
    output: { type: 'string', default: 'out.jsonl' },
    orders: { type: 'boolean' },
  },
});
const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-classify-'));
const input = path.join(folder, 'in.jsonl');
const lines = values.input
  ? readFileSync(values.input, 'utf8').trim().split('\n').slice(0, Number(values.rows))
  : makeBodies(values.service, Number(values.rows));
const one = path.join(folder, 'one.jsonl');
writeFileSync(input, `${lines.join('\n')}\n`);
writeFileSync(one, `${lines[0]}\n`);
const asked = [values.command, ...(values.model ? ['--model', values.model] : [values.service])];
const env = {
  ...process.env,
  EEG_MODEL_PATH: process.env.EEG_MODEL_PATH ?? path.join(ROOT, 'models', 'eeg', 'eeg_model.pt'),
};

/** Runs Node; the processor time is that of the whole process, as the shell says it. */
function node(args) {
  const timed = `TIMEFORMAT='cpu %U %S'; time "$0" "$@"`;
  const run = spawnSync('bash', ['-c', timed, process.execPath, ...args], { env });
  const said = run.stderr.toString();
  if (run.status !== 0) throw new Error(said);
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)\s*$/.exec(said);
  return { stdout: run.stdout.toString(), cpu: Number(user) + Number(system) };
}

function direct(order) {
  const { stdout, cpu } = node([DIRECT, order, input, ...asked]);
  return { rate: Number(stdout), cpu: cpu - node([DIRECT, order, one, ...asked]).cpu };
}

function command() {
  const output = path.join(folder, values.output);
  const summary = path.join(folder, 'summary.json');
  const args = (file) => [MAIN, ...asked, file, '-o', output, '--overwrite'];
  const { cpu } = node([...args(input), '--summary', summary]);
  const { answered, seconds } = JSON.parse(readFileSync(summary, 'utf8'));
  return { rate: answered / seconds, cpu: cpu - node(args(one)).cpu };
}

try {
  const names = values.orders ? ['file', 'ascending', 'descending'] : ['engine', values.command];
  const all = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 1; round <= Number(values.rounds); round++) {
    for (const name of names) {
      const result =
        name === values.command ? command() : direct(name === 'engine' ? 'descending' : name);
      all[name].push(result);
      const { rate, cpu } = result;
      console.log(
        `round ${round}: ${name.padEnd(10)} ${rate.toFixed(1)} rows/s, ${cpu.toFixed(2)} CPU s`,
      );
    }
  }
  for (const name of names.slice(1)) {
    const first = all[names[0]];
    const ratios = all[name].map(({ rate }, i) => rate / first[i].rate);
    console.log(`${name} / ${names[0]}: ${median(ratios).toFixed(3)} (median of ${ratios.length})`);
    const cpu = all[name].map((one, i) => one.cpu / first[i].cpu);
    console.log(`  CPU time: ${median(cpu).toFixed(3)}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
