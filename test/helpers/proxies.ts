import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { makeCertificate, type TestCertificate } from './certificates';
import { Folder } from './files';
import type { ToolName } from './needs';
import { freePort } from './ports';
import { ROOT, type Service, startService, textModel } from './service';
import { until } from './until';

export interface Proxy {
  readonly port: number;
  /** Of nginx, which sends from there to `port`. */
  readonly plainPort?: number;
  /** What it wrote about itself. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

/** How a proxy runs the file of deploy/ that users copy. */
export interface ProxyKind {
  readonly name: string;
  readonly tool: ToolName;
  /** Of the replicas; as the file asks for. */
  readonly settings: Readonly<Record<string, string>>;
  readonly start: (replicas: Replicas) => Promise<Proxy>;
}

/** The ports of two. */
export type Replicas = readonly [number, number];

/** A service to stand behind a proxy. `port`: 0 for any. */
export function startReplica(
  port: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const env = { ...textModel('bert-single-label'), WORKERS: '1', PORT: String(port), ...settings };
  return startService('sentiment', { env });
}

/** What a test may want of nginx that users have in other ways. */
export interface NginxOptions {
  /** Speaks TLS, as the file says; by default it takes plain HTTP where TLS would be. */
  readonly certificate?: TestCertificate;
  /** What stands in the file, and what to put there. */
  readonly replacing?: Readonly<Record<string, string>>;
}

export const PROXIES: readonly ProxyKind[] = [
  {
    name: 'nginx',
    tool: 'nginx',
    settings: {},
    start: startNginx,
  },
  {
    name: 'HAProxy',
    tool: 'haproxy',
    settings: { SHUTDOWN_DELAY_MS: '2000' },
    start: startHaproxy,
  },
];

/** The file as it is, in the least of what Debian's nginx.conf puts around it. */
export async function startNginx(replicas: Replicas, options: NginxOptions = {}): Promise<Proxy> {
  const { certificate, replacing = {} } = options;
  const folder = new Folder();
  const [port, plainPort] = [await freePort(), await freePort()];
  const { cert, key } = certificate ?? makeCertificate(); // read even where no port speaks TLS
  const conf = deployed('nginx/libtorch-serve.conf', {
    ...replicaPorts(replicas),
    'listen 80;': `listen 127.0.0.1:${plainPort};`,
    'listen 443 ssl http2;': `listen 127.0.0.1:${port}${certificate ? ' ssl http2' : ''};`,
    '/etc/nginx/libtorch-serve.crt': folder.put('libtorch-serve.crt', cert),
    '/etc/nginx/libtorch-serve.key': folder.put('libtorch-serve.key', key),
    ...replacing,
  });
  folder.put('libtorch-serve.conf', conf);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder.path}/${name};`,
  );
  const main = folder.put(
    'nginx.conf',
    `${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; pid ${folder.path}/pid; error_log stderr warn; worker_processes 1;
    events { worker_connections 768; }
    http { access_log off; ${temporary.join(' ')} include ${folder.path}/libtorch-serve.conf; }`,
  );
  const command = ['nginx', '-p', folder.path, '-c', main];
  return { ...(await startProxy(command, folder, port)), plainPort };
}

async function startHaproxy(replicas: Replicas): Promise<Proxy> {
  const folder = new Folder();
  const port = await freePort();
  const conf = deployed('haproxy/haproxy.cfg', {
    ...replicaPorts(replicas),
    'bind :80': `bind 127.0.0.1:${port}`,
  });
  return startProxy(['haproxy', '-db', '-f', folder.put('haproxy.cfg', conf)], folder, port);
}

/** A file of deploy/ in which each of these stands once, with others in their places. */
function deployed(file: string, replacing: Readonly<Record<string, string>>): string {
  const text = readFileSync(path.join(ROOT, 'deploy', file), 'utf8');
  return Object.entries(replacing).reduce((rest, [from, to]) => {
    const [before, after, ...more] = rest.split(from);
    if (after === undefined || more.length > 0) throw new Error(`"${from}" is not once in ${file}`);
    return before + to + after;
  }, text);
}

function replicaPorts([a, b]: Replicas): Readonly<Record<string, string>> {
  return { '127.0.0.1:8000': `127.0.0.1:${a}`, '127.0.0.1:8002': `127.0.0.1:${b}` };
}

async function startProxy(
  [command = '', ...args]: readonly string[],
  folder: Folder,
  port: number,
): Promise<Proxy> {
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
      folder.remove();
      resolve();
    });
  });
  await until(`${command} to listen on port ${port}`, () => {
    if (hasEnded) throw new Error(`${command} ended: ${log}`);
    return isOpen(port);
  });
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
    socket.on('error', () => resolve(false));
  });
}
