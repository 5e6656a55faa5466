/** A Python package index on the loopback, with wheels that hold next to nothing. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

export interface Wheel {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly bytes: Buffer;
}

/** A wheel's line of the lock file. */
export function pinOf({ bytes, ...rest }: Wheel) {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { ...rest, size: bytes.length, sha256 };
}

/** zip64: in the form of files of more than 4 GiB, whatever their size. */
export async function makeWheel(
  name: string,
  files: Readonly<Record<string, string | Buffer>>,
  { zip64 = false } = {},
): Promise<Wheel> {
  const version = '1.0.0';
  const stem = `${name.replaceAll('-', '_')}-${version}`;
  const zip = new ZipFile();
  const all = { [`${stem}.dist-info/licenses/LICENSE`]: `The licence of ${name}.\n`, ...files };
  for (const [path, content] of Object.entries(all)) {
    const options = { forceZip64Format: zip64, mtime: new Date(0), compress: false };
    zip.addBuffer(Buffer.from(content as string), path, options);
  }
  zip.end({ forceZip64Format: zip64, comment: '' }, () => {});
  const bytes = await buffer(zip.outputStream as AsyncIterable<Buffer>);
  return { name, version, file: `${stem}-py3-none-any.whl`, bytes };
}

export interface Asked {
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

/** How it answers may be changed while it runs. */
export class PackageIndex {
  /** As a page of links (PEP 503), not as JSON (PEP 691). */
  asPage = false;
  /** What it says the hash of a file is; null: it says none. */
  saidHash: string | null | undefined;
  takesRanges = true;
  /** Break the connection of a file after so many bytes: the next time, and the time after that, … */
  breaks: number[] = [];
  /** Awaited before: what is on its way when a connection breaks may be lost. */
  beforeBreak: (sent: number) => Promise<void> = async () => {};
  /** Do not break it there, but send no more. */
  hangs = false;
  readonly asked: Asked[] = [];
  port = 0;
  readonly #server: Server;
  readonly #wheels = new Map<string, Wheel>();

  constructor(wheels: readonly Wheel[]) {
    for (const wheel of wheels) this.#wheels.set(wheel.name, wheel);
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}/simple`;
  }

  /** Of the files alone. */
  get filesAsked(): readonly Asked[] {
    return this.asked.filter(({ path }) => path.startsWith('/files/'));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    this.asked.push({ path: url, range: headers.range, authorization: headers.authorization });
    const [, kind, name = ''] = url.split('/');
    const wheel = this.#wheels.get(name);
    if (!wheel) response.writeHead(404).end();
    else if (kind === 'simple') this.#list(wheel, response);
    else this.#send(wheel, headers.range, response);
  }

  #list(wheel: Wheel, response: ServerResponse): void {
    const { file } = wheel;
    const hash = this.saidHash === undefined ? pinOf(wheel).sha256 : this.saidHash;
    const url = `../../files/${wheel.name}`;
    if (this.asPage) {
      response.setHeader('content-type', 'text/html');
      response.end(`<html><a href="${url}${hash ? `#sha256=${hash}` : ''}">${file}</a></html>`);
    } else {
      response.setHeader('content-type', 'application/vnd.pypi.simple.v1+json');
      const hashes = hash ? { sha256: hash } : {};
      response.end(JSON.stringify({ files: [{ filename: file, url, hashes }] }));
    }
  }

  #send({ bytes }: Wheel, range: string | undefined, response: ServerResponse): void {
    const start = this.takesRanges ? Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0) : 0;
    const end = Math.min(bytes.length, start + (this.breaks.shift() ?? Number.POSITIVE_INFINITY));
    const part = range !== undefined && this.takesRanges;
    if (part)
      response.setHeader('content-range', `bytes ${start}-${bytes.length - 1}/${bytes.length}`);
    response.writeHead(part ? 206 : 200, { 'content-length': bytes.length - start });
    response.write(bytes.subarray(start, end), () => {
      if (end === bytes.length) response.end();
      else if (!this.hangs) void this.beforeBreak(end).then(() => response.destroy());
    });
  }
}

/** A proxy for CONNECT; returns its port, the hosts that were asked for, and how to end it. */
export async function startProxy() {
  const asked: string[] = [];
  const sockets = new Set<net.Socket>();
  const server = createServer();
  server.on('connect', ({ url = '' }, client: net.Socket) => {
    asked.push(url);
    const [host, port] = url.split(':');
    const upstream = net.connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, asked, close };
}
