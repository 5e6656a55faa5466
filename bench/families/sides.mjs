/** What the benches of families and of lengths share: models of published shapes, and asking each engine over one. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { BENCH, BUILD, MODELS, ROOT } from '../paths.mjs';
import { once, run } from '../setup.mjs';

const FOLDER = path.join(BENCH, 'families');
export const OURS = ['float32', 'int8', 'int8+bfloat16', 'bfloat16'];

/** The folder of `sentiment`, the shipped model, or of a shape of random_models.py, which is made. */
export function makeModel(name, python) {
  if (name === 'sentiment') return path.join(MODELS, name);
  const folder = path.join(BUILD, 'shapes', name);
  const script = path.join(FOLDER, 'random_models.py');
  once(folder, [script], `random weights of the shape of ${name}`, () =>
    run(python, [script, path.join(MODELS, 'sentiment'), folder]),
  );
  return folder;
}

/**
 * What one side says of a model; null, with its last words on the terminal, where it cannot. The task is that of
 * peer.py.
 */
export function ask(side, { name, folder, python, task }) {
  const work = path.join(BUILD, 'families', name);
  const command = OURS.includes(side)
    ? [process.execPath, path.join(FOLDER, 'ours.mjs'), side, folder]
    : [python, path.join(FOLDER, 'peer.py'), side, folder, work];
  const { answer, problem } = askProcess(command, task);
  if (problem !== null) console.log(`${name}: ${side} failed: ${problem}`);
  return answer;
}

/** What a process prints last, as JSON, for a task; `problem`: the last line of its errors if it fails. */
export function askProcess([file, ...args], task) {
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd: ROOT,
    input: JSON.stringify(task),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, HF_HUB_OFFLINE: '1', TQDM_DISABLE: '1' },
  });
  const lastLine = (text) => text.trim().split('\n').at(-1);
  if (status !== 0) return { answer: null, problem: lastLine(stderr) };
  return { answer: JSON.parse(lastLine(stdout)), problem: null };
}
