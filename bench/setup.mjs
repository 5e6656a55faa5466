/**
 * What the peers need, made once under build/bench: a Python environment, the packages of node-ort,
 * the shipped sentiment model as ONNX.
 *
 * Each part has a folder and, written last, a stamp with the hash of what it was made from. A folder
 * without the right stamp was interrupted or is out of date, and is made anew.
 */
import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { BUILD, MODELS, ONNX_MODEL, PEERS } from './paths.mjs';

const FASTAPI_REQUIREMENTS = path.join(PEERS, 'fastapi/requirements.txt');
const ONNX_REQUIREMENTS = path.join(PEERS, 'node-ort/requirements.txt');
/** Of the services of encoders (field/). */
const ENCODERS_REQUIREMENTS = [
  'fastapi/encoders-requirements.txt',
  'openvino/requirements.txt',
].map((file) => path.join(PEERS, file));
/** One environment for all services. */
const REQUIREMENTS = [FASTAPI_REQUIREMENTS, ONNX_REQUIREMENTS, ...ENCODERS_REQUIREMENTS];

/** Something the user can mend: shown without a stack. */
export class SetupError extends Error {}

/**
 * Make what is not there yet; returns the Python interpreter to use.
 * python: an interpreter that has the requirements, else one is set up. nodeOrt: with that peer. sentiment: with the
 * shipped model for it. encoders: with what the services of encoders need of Python.
 */
export function setUp({ python, nodeOrt, sentiment, encoders }) {
  if (python && !fs.existsSync(python)) throw new SetupError(`--python: no file ${python}`);
  const interpreter = python ? path.resolve(python) : makePython('python', REQUIREMENTS);
  if (python) {
    const needed = [FASTAPI_REQUIREMENTS, ...(encoders ? ENCODERS_REQUIREMENTS : [])];
    for (const file of needed) requirePackages(interpreter, file);
  }
  if (nodeOrt) makeNodeOrt();
  if (nodeOrt && sentiment) makeOnnxModel(interpreter);
  return interpreter;
}

/** The interpreter of a Python environment of that name with the packages of these files. */
export function makePython(name, requirements) {
  const folder = path.join(BUILD, name);
  const interpreter = path.join(folder, 'bin/python');
  once(folder, requirements, `Python packages of ${name} (with PyTorch some gigabytes)`, () => {
    const hint = 'Python 3 with venv is needed (Debian: apt-get install python3-venv)';
    run('python3', ['-m', 'venv', folder], { hint });
    const lists = requirements.flatMap((file) => ['-r', file]);
    run(interpreter, ['-m', 'pip', 'install', '--quiet', ...lists]);
  });
  return interpreter;
}

/** Packages beside those of the environment, without their dependencies. @returns folder for PYTHONPATH */
export function installPackages(python, name, requirements) {
  const folder = path.join(BUILD, name);
  const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder];
  once(folder, [requirements], name, () => run(python, [...args, '-r', requirements]));
  return folder;
}

function makeNodeOrt() {
  const folder = path.join(BUILD, 'node-ort');
  const files = ['package.json', 'package-lock.json', 'server.mjs', 'encoders.mjs'].map((name) =>
    path.join(PEERS, 'node-ort', name),
  );
  once(folder, files, 'packages of node-ort', () => {
    for (const file of files) fs.copyFileSync(file, path.join(folder, path.basename(file)));
    // The install script of onnxruntime-node would fetch CUDA libraries; the CPU's are in the package.
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  });
}

function makeOnnxModel(python) {
  const source = path.join(MODELS, 'sentiment');
  const script = path.join(PEERS, 'node-ort/export_onnx.py');
  const files = fs.readdirSync(source).map((name) => path.join(source, name));
  once(path.dirname(ONNX_MODEL), [script, FASTAPI_REQUIREMENTS, ...files], 'ONNX export', () => {
    requirePackages(python, ONNX_REQUIREMENTS);
    run(python, [script, source, ONNX_MODEL], {
      env: { ...process.env, HF_HUB_OFFLINE: '1', TQDM_DISABLE: '1' },
    });
  });
}

/** Run `make` unless the folder's stamp says that it was made from these very files. */
export function once(folder, files, what, make) {
  const hash = crypto.createHash('sha256');
  for (const file of files) hash.update(path.basename(file)).update(fs.readFileSync(file));
  const key = hash.digest('hex');
  const stamp = path.join(folder, '.made-from');
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === key) return;
  console.log(`setting up: ${what}`);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  make();
  fs.writeFileSync(stamp, key);
}

/** Throws unless the interpreter has every package of the file in the pinned version. */
function requirePackages(python, requirements) {
  const script = `
import importlib.metadata as metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps(found))`;
  const pins = fs
    .readFileSync(requirements, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('=='));
  const names = pins.map(([name]) => name);
  const found = JSON.parse(run(python, ['-c', script, ...names], { capture: true }));
  const wrong = pins.filter(([name, version]) => found[name]?.split('+')[0] !== version);
  if (wrong.length === 0) return;
  const list = wrong.map(([name, version]) => `${name} ${version} (has ${found[name] ?? 'none'})`);
  throw new SetupError(
    `${python} lacks ${list.join(', ')}: ${python} -m pip install -r ${requirements}, ` +
      'or leave --python out and one is set up',
  );
}

/** Run a command to its end; with `capture` returns its standard output. */
export function run(command, args, { hint, capture = false, ...options } = {}) {
  const stdout = capture ? 'pipe' : 'inherit';
  const result = spawnSync(command, args, {
    stdio: ['ignore', stdout, 'inherit'],
    encoding: 'utf8',
    ...options,
  });
  if (result.error || result.status !== 0) {
    const shown = [command, ...args.slice(0, 3)].join(' ').split('\n')[0];
    const reason =
      result.error?.message ?? `ended with ${result.signal ?? result.status}, see above`;
    throw new SetupError(`${shown}: ${reason}${hint ? `. ${hint}` : ''}`);
  }
  return result.stdout;
}
