import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const SOURCES = path.join(ROOT, 'test/deploy');
const MODULE = path.join(SOURCES, 'tools');
const FOLDER = path.join(ROOT, 'build/deploy');

/** Programs by the Go packages of test/deploy/tools that they are. */
const PROGRAMS = {
  kustomize: 'sigs.k8s.io/kustomize/kustomize/v5',
  admission: './admission',
  compose: './compose',
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
};

/** Whose files are read, and no code of it is run. */
const OPERATOR = 'github.com/prometheus-operator/prometheus-operator';

/** Runs to the end; its standard output. Throws with all that it wrote if that was with another code than 0. */
export function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    ...options,
  });
  if (error) throw new Error(`${command}: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args[0]}: ${stderr}${stdout}`.trim());
  return stdout;
}

/** The path of a program, built from its Go module the first time and whenever the module changed. */
export function program(name) {
  const place = path.join(FOLDER, 'bin', name);
  const state = ['go.mod', 'go.sum', 'admission/main.go', 'compose/main.go']
    .map((file) => readFileSync(path.join(MODULE, file), 'utf8'))
    .join('');
  const stamp = `${place}.state`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return place;
  process.stderr.write(`building ${name}, which may take minutes\n`);
  const args = ['build', '-mod=readonly', '-trimpath', '-ldflags=-s -w', '-o', place];
  run('go', [...args, PROGRAMS[name]], { cwd: MODULE });
  writeFileSync(stamp, state);
  return place;
}

/** A Python of its own that has what test/deploy/requirements.txt names. */
export function python() {
  const place = path.join(FOLDER, 'venv/bin/python');
  const requirements = path.join(SOURCES, 'requirements.txt');
  const stamp = path.join(FOLDER, 'venv/state');
  const state = readFileSync(requirements, 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return place;
  mkdirSync(FOLDER, { recursive: true });
  run('python3', ['-m', 'venv', '--clear', path.join(FOLDER, 'venv')]);
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  const lines = state.split('\n').filter((line) => line && !line.startsWith('#'));
  const alone = lines.filter((line) => line.startsWith('kserve=='));
  run(place, [...install, ...lines.filter((line) => !alone.includes(line))]);
  run(place, [...install, '--no-deps', ...alone]);
  writeFileSync(stamp, state);
  return place;
}

/** A CustomResourceDefinition of the Prometheus operator, YAML. */
export function operatorDefinition(plural) {
  const { Dir } = JSON.parse(
    run('go', ['mod', 'download', '-json', OPERATOR], { cwd: path.join(SOURCES, 'definitions') }),
  );
  const file = `monitoring.coreos.com_${plural}.yaml`;
  return readFileSync(path.join(Dir, 'example/prometheus-operator-crd', file), 'utf8');
}
