import net from 'node:net';
import type { Address } from './http';
import { until } from './until';

/** A client that writes what it is told and reads only if it is told. */
export class RawClient {
  readonly socket: net.Socket;
  /** Resolves when the service has closed it; known to who reads only. */
  readonly closed: Promise<void>;
  received = '';
  isClosed = false;

  constructor(service: Address, { reads = true } = {}) {
    // Half open: it does not close its side because the service has closed its own.
    this.socket = net.connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true });
    if (reads) {
      this.socket.setEncoding('latin1').on('data', (text: string) => {
        this.received += text;
      });
    }
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      const close = () => {
        this.isClosed = true;
        resolve();
      };
      this.socket.on('end', close).on('close', close);
    });
  }

  /** Resolves when it is connected, which the service may not know yet. */
  async connected(): Promise<this> {
    if (this.socket.connecting)
      await new Promise((resolve) => this.socket.once('connect', resolve));
    return this;
  }

  write(bytes: string): void {
    this.socket.write(bytes);
  }

  /** Resolves when what has been received matches. */
  async receives(pattern: RegExp): Promise<void> {
    await until(`${pattern} from the service`, () => {
      if (pattern.test(this.received)) return true;
      if (this.isClosed) throw new Error(`closed after ${JSON.stringify(this.received)}`);
      return false;
    });
  }

  /** As a process that is killed does. */
  leave(): void {
    this.socket.destroy();
  }
}

export function analyzeHead(length: number | 'chunked', headers = ''): string {
  const framing = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return `POST /analyze HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n${headers}${framing}\r\n\r\n`;
}

/** One whole request. */
export function analyzeRequest(text: string, headers = ''): string {
  const body = JSON.stringify({ text });
  return `POST /analyze HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
}
