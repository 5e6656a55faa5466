/** The servers that are compared: how each is started, and what the operating system says of it. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from './load.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const FASTAPI = path.join(ROOT, 'bench/peers/fastapi');

/** How a server is started, by its name. port: number; python: an interpreter with the requirements. */
function command(name, service, port, python) {
  const shared = { cwd: path.join(ROOT, 'models', service), env: { ...process.env } };
  if (name === 'libtorch-serve') {
    Object.assign(shared.env, { PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'info' });
    return { ...shared, run: [process.execPath, path.join(ROOT, 'dist/main.js'), service] };
  }
  const workers = name.includes('tuned') ? ['--workers', '2'] : [];
  if (name.includes('tuned')) shared.env.OMP_NUM_THREADS = '1';
  shared.env.MODEL_DIR = path.join(ROOT, 'models/sentiment');
  const uvicorn = ['-m', 'uvicorn', '--app-dir', FASTAPI, `${service}:app`, '--host', '127.0.0.1'];
  return {
    ...shared,
    run: [python, ...uvicorn, '--port', String(port), '--no-access-log', ...workers],
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

/**
 * Start a server and wait for its first answer to `request`.
 * Returns { port, pid, coldStart (s), stop }.
 */
export async function start(name, { service, request, python, logFile }) {
  const port = await freePort();
  const { run, cwd, env } = command(name, service, port, python);
  const log = fs.openSync(logFile, 'a');
  const begin = performance.now();
  const child = spawn(run[0], run.slice(1), { cwd, env, stdio: ['ignore', log, log] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    fs.closeSync(log);
  };
  for (;;) {
    const connection = new Connection(port);
    const { status } = await connection.ask(request);
    connection.close();
    if (status === 200) break;
    if (child.exitCode !== null || performance.now() - begin > 120_000) {
      await stop();
      throw new Error(`${name} gave no answer (last status ${status}), see ${logFile}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { port, pid: child.pid, coldStart: (performance.now() - begin) / 1000, stop };
}
