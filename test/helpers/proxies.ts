import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freePort } from './ports';
import { ROOT } from './service';

export interface Proxy {
  readonly port: number;
  /** What it wrote about itself. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

/** How a proxy runs the file of deploy/ that users copy. */
export interface ProxyKind {
  readonly name: string;
  /** Debian's package. */
  readonly package: string;
  readonly isInstalled: boolean;
  /** Of the replicas; as the file asks for. */
  readonly settings: Readonly<Record<string, string>>;
  readonly start: (replicas: readonly [number, number]) => Promise<Proxy>;
}

export const PROXIES: readonly ProxyKind[] = [
  {
    name: 'nginx',
    package: 'nginx-light',
    isInstalled: spawnSync('nginx', ['-v']).status === 0,
    settings: {},
    start: (replicas) => startProxy(replicas, runNginx),
  },
  {
    name: 'HAProxy',
    package: 'haproxy',
    isInstalled: spawnSync('haproxy', ['-v']).status === 0,
    settings: { SHUTDOWN_DELAY_MS: '2000' },
    start: (replicas) => startProxy(replicas, runHaproxy),
  },
];

type Substitute = (file: string) => string;

/** The file as it is, in the least of what Debian's nginx.conf puts around it, writing to `folder`. */
function runNginx(folder: string, substitute: Substitute): readonly string[] {
  writeFileSync(path.join(folder, 'libtorch-serve.conf'), substitute('nginx/libtorch-serve.conf'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    path.join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log stderr warn; worker_processes 1;
    events { worker_connections 768; }
    http { access_log off; ${temporary.join(' ')} include ${folder}/libtorch-serve.conf; }`,
  );
  return ['nginx', '-p', folder, '-c', path.join(folder, 'nginx.conf')];
}

function runHaproxy(folder: string, substitute: Substitute): readonly string[] {
  const file = path.join(folder, 'haproxy.cfg');
  writeFileSync(file, substitute('haproxy/haproxy.cfg'));
  return ['haproxy', '-db', '-f', file];
}

async function startProxy(
  replicas: readonly [number, number],
  prepare: (folder: string, substitute: Substitute) => readonly string[],
): Promise<Proxy> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'libtorch-serve-proxy-'));
  const port = await freePort();
  const [command = '', ...args] = prepare(folder, (file) => {
    const text = readFileSync(path.join(ROOT, 'deploy', file), 'utf8');
    return [
      [/127\.0\.0\.1:8000\b/, `127.0.0.1:${replicas[0]}`],
      [/127\.0\.0\.1:8002\b/, `127.0.0.1:${replicas[1]}`],
      [/(listen |bind :)80\b/, `${file.startsWith('nginx') ? 'listen' : 'bind'} 127.0.0.1:${port}`],
    ].reduce((rest, [pattern, by]) => replaceOnce(rest, pattern as RegExp, by as string), text);
  });
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => {
      hasEnded = true;
      running.delete(child);
      rmSync(folder, { recursive: true, force: true });
      resolve();
    });
  });
  while (!(await isOpen(port))) if (hasEnded) throw new Error(`${command} ended: ${log}`);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { port, log: () => log, stop };
}

const running = new Set<ChildProcess>();

/** For `afterAll`. SIGTERM, on which nginx ends its workers, too. */
export function stopProxies(): void {
  for (const child of running) child.kill('SIGTERM');
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => setTimeout(() => resolve(false), 20));
  });
}

function replaceOnce(text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`${pattern} is not in the file`);
  return text.replace(pattern, by);
}
