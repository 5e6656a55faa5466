import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { DEPLOY } from './deployed';
import { Folder } from './files';
import { freePort } from './ports';
import { installPython } from './python';
import { ROOT } from './service';
import { until } from './until';

const REQUIREMENTS = path.join(ROOT, 'test/clients/envoy/requirements.txt');

/** Envoy as its Python package has it, with the file of deploy/ that users copy. */
export class Envoy {
  readonly port: number;
  log = '';
  readonly #process: ChildProcess;
  readonly #folder: Folder;

  private constructor(port: number, child: ChildProcess, folder: Folder) {
    this.port = port;
    this.#process = child;
    this.#folder = folder;
    child.stderr?.on('data', (data) => {
      this.log += data;
    });
  }

  /** @param replacing what stands in the file, and what to put there */
  static async start(
    { upstream, guard }: { readonly upstream: number; readonly guard: number },
    replacing: Readonly<Record<string, string>> = {},
  ): Promise<Envoy> {
    const packages = await installPython('envoy', REQUIREMENTS);
    const folder = new Folder();
    const port = await freePort();
    const all = {
      'address: 0.0.0.0, port_value: 10000': `address: 127.0.0.1, port_value: ${port}`,
      'port_value: 9000': `port_value: ${upstream}`,
      'port_value: 8001': `port_value: ${guard}`,
      ...replacing,
    };
    let text = readFileSync(path.join(DEPLOY, 'envoy/envoy.yaml'), 'utf8');
    for (const [old, put] of Object.entries(all)) {
      if (!text.includes(old)) throw new Error(`deploy/envoy/envoy.yaml has no "${old}"`);
      text = text.replaceAll(old, put);
    }
    const file = folder.put('envoy.yaml', text);
    const binary = path.join(packages, 'envoy/_bin/envoy');
    if (!existsSync(binary)) throw new Error(`${binary}: is not in the package`);
    const args = ['--config-path', file, '--use-dynamic-base-id', '--concurrency', '1'];
    const child = spawn(binary, [...args, '--log-level', 'warning'], { stdio: 'pipe' });
    const envoy = new Envoy(port, child, folder);
    await until('Envoy to listen', async () => {
      if (child.exitCode !== null) throw new Error(`Envoy has ended: ${envoy.log}`);
      return (await envoy.ask({ path: '/ready' }).catch(() => null)) !== null;
    });
    return envoy;
  }

  /** A request through it. */
  ask(request: EnvoyRequest): Promise<EnvoyAnswer> {
    const { path: at = '/v1/chat/completions', body, headers = {} } = request;
    const options = { port: this.port, path: at, method: body === undefined ? 'GET' : 'POST' };
    return new Promise((resolve, reject) => {
      const sent = http.request({ host: '127.0.0.1', ...options, headers }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece) => pieces.push(piece)).on('error', reject);
        answer.on('end', () => {
          const { statusCode = 0, headers: received } = answer;
          resolve({ status: statusCode, headers: received, text: String(Buffer.concat(pieces)) });
        });
      });
      sent.on('error', reject).end(body);
    });
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    if (this.#process.exitCode === null) {
      this.#process.kill('SIGKILL');
      await gone;
    }
    this.#folder.remove();
  }
}

export interface EnvoyRequest {
  readonly path?: string;
  /** Undefined: GET. */
  readonly body?: string | Buffer;
  readonly headers?: http.OutgoingHttpHeaders;
}

export interface EnvoyAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** A server behind it: what it was asked, and what it is to answer. */
export class Upstream {
  readonly asked: { readonly headers: http.IncomingHttpHeaders; readonly text: string }[] = [];
  answer: { readonly headers: http.OutgoingHttpHeaders; readonly pieces: readonly string[] } = {
    headers: {},
    pieces: [],
  };
  readonly #server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request
      .on('data', (piece) => pieces.push(piece))
      .on('end', () => {
        this.asked.push({ headers: request.headers, text: String(Buffer.concat(pieces)) });
        response.writeHead(200, this.answer.headers);
        for (const piece of this.answer.pieces) response.write(piece);
        response.end();
      });
  });

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
