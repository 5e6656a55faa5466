/** The servers that are compared: how each is started, and what the operating system says of it. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fieldCommand } from './field/commands.mjs';
import { FIELD } from './field/services.mjs';
import { Connection } from './load.mjs';
import { BUILD, MODELS, ONNX_MODEL, PEERS, ROOT } from './paths.mjs';

export const OURS = 'libtorch-serve';
/** The same with DTYPE=int8, of the services of encoders. */
export const OURS_INT8 = 'libtorch-serve-int8';

/** A part of each service of encoders. */
const ofField = (key) =>
  Object.fromEntries(Object.entries(FIELD).map(([service, of]) => [service, of[key]]));

/** The peers of each service. */
export const PEER_NAMES = {
  sentiment: ['fastapi', 'fastapi-tuned', 'node-ort'],
  eeg: ['fastapi', 'fastapi-tuned'],
  models: ['single'],
  ...ofField('peers'),
};

export const ROUTES = {
  ...{ sentiment: '/analyze', eeg: '/predict', models: '/analyze' },
  ...ofField('route'),
};

/** Where a server is asked: one model of several by its name. */
export function routeOf(name, service) {
  return name === OURS && service === 'models' ? '/models/sentiment/analyze' : ROUTES[service];
}

/** Copies of the shipped models, made anew: a link would lead out of the directory. */
function makeDirectory() {
  const directory = path.join(BUILD, 'models');
  fs.rmSync(directory, { recursive: true, force: true });
  for (const name of ['sentiment', 'eeg']) {
    fs.cpSync(path.join(MODELS, name), path.join(directory, name), { recursive: true });
  }
  return directory;
}

/** How a server is started, by its name: { run, env }. It is started in the model's folder. */
function command(name, { service, port, python, tei, root = ROOT, flags }) {
  if (FIELD[service]) return fieldCommand(name, { service, port, python, tei, root });
  const local = { HOST: '127.0.0.1', PORT: String(port) };
  if (name === OURS || name === 'single') {
    const args = { models: name === OURS ? ['models', makeDirectory()] : ['sentiment'] };
    const main = path.join(root, 'dist/main.js');
    return { run: [process.execPath, ...flags, main, ...(args[service] ?? [service])], env: local };
  }
  if (name === 'node-ort') {
    const server = path.join(BUILD, 'node-ort/server.mjs');
    return { run: [process.execPath, server], env: { ...local, MODEL_DIR: ONNX_MODEL } };
  }
  const tuned = name === 'fastapi-tuned';
  const uvicorn = ['-m', 'uvicorn', '--app-dir', path.join(PEERS, 'fastapi'), `${service}:app`];
  const address = ['--host', '127.0.0.1', '--port', String(port), '--no-access-log'];
  return {
    run: [python, ...uvicorn, ...address, ...(tuned ? ['--workers', '2'] : [])],
    env: {
      MODEL_DIR: path.join(MODELS, 'sentiment'),
      HF_HUB_OFFLINE: '1',
      ...(tuned ? { OMP_NUM_THREADS: '1' } : {}),
    },
  };
}

export function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The process and all its descendants. */
function tree(pid) {
  const children = fs.existsSync(`/proc/${pid}`)
    ? fs.readdirSync(`/proc/${pid}/task`).flatMap((task) => {
        const text = fs.readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim();
        return text ? text.split(' ').map(Number) : [];
      })
    : [];
  return [pid, ...children.flatMap(tree)];
}

/** CPU seconds used so far, and resident memory in MB now and at its peak. Linux only. */
export function usage(pid) {
  let [cpu, rss, peak] = [0, 0, 0];
  for (const each of tree(pid)) {
    const fields = fs.readFileSync(`/proc/${each}/stat`, 'utf8').split(') ')[1].split(' ');
    cpu += (Number(fields[11]) + Number(fields[12])) / 100;
    const status = fs.readFileSync(`/proc/${each}/status`, 'utf8');
    rss += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    peak += Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  }
  return { cpu, rss, peak };
}

const running = new Set();
process.on('exit', () => {
  // SIGTERM, for uvicorn passes it on to its workers; SIGKILL would leave them behind.
  for (const child of running) child.kill('SIGTERM');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));

/** Start a process that ends with this one at the latest: { child, stop, ended }. */
export function startProcess(run, options) {
  const child = spawn(run[0], run.slice(1), options);
  running.add(child);
  const ended = new Promise((resolve) => {
    child.once('exit', resolve).once('error', resolve);
  }).then(() => running.delete(child));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { child, stop };
}

/**
 * Start a server and wait for its first answer to `request`, of which `isWhole` says whether its models were there,
 * where it answers before they are. through: what runs it (`taskset …`), root: the
 * checkout of `OURS`, where it is not this one, flags: of Node for it, env: settings of its own.
 * Returns { port, pid, coldStart (s), stop }.
 */
export async function start(
  name,
  { service, request, isWhole, python, tei, root, through = [], flags = [], env: own = {} },
) {
  if (!ROUTES[service]) throw new Error(`"${service}" is no service: ${Object.keys(ROUTES)}`);
  const port = await freePort();
  const { run, env } = command(name, { service, port, python, tei, root, flags });
  const logFile = path.join(os.tmpdir(), `bench-${process.pid}-${service}-${name}.log`);
  const log = fs.openSync(logFile, 'w');
  const begin = performance.now();
  const { child, stop } = startProcess([...through, ...run], {
    cwd: path.join(MODELS, service === 'eeg' ? 'eeg' : 'sentiment'),
    env: { ...process.env, ...env, ...own },
    stdio: ['ignore', log, log],
  });
  fs.closeSync(log);
  for (;;) {
    const connection = new Connection(port);
    const { status, body } = await connection.ask(request);
    connection.close();
    if (status === 200 && (isWhole === undefined || isWhole(body))) break;
    if (child.exitCode !== null || performance.now() - begin > 120_000) {
      await stop();
      throw new Error(`${name} gave no answer (last status ${status}), see ${logFile}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const coldStart = (performance.now() - begin) / 1000;
  const stopAndForget = async () => {
    await stop();
    fs.rmSync(logFile, { force: true });
  };
  return { port, pid: child.pid, coldStart, stop: stopAndForget };
}
