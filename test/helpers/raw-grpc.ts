import http2 from 'node:http2';
import type { Service } from './service';

export const INFER = '/inference.GRPCInferenceService/ModelInfer';
export const STREAM = '/inference.GRPCInferenceService/ModelStreamInfer';
export const LIVE = '/inference.GRPCInferenceService/ServerLive';
export const WATCH = '/grpc.health.v1.Health/Watch';
export const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';

/** A connection to the gRPC port, without a gRPC client that would do what is expected of it. */
export class RawSession {
  readonly session: http2.ClientHttp2Session;
  readonly closed: Promise<void>;
  isClosed = false;

  /** @param settings such as `initialWindowSize: 0`, with which it takes no answers */
  constructor({ grpcPort }: Pick<Service, 'grpcPort'>, settings: http2.Settings = {}) {
    this.session = http2.connect(`http://127.0.0.1:${grpcPort}`, { settings });
    this.session.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.session.once('close', () => {
        this.isClosed = true;
        resolve();
      });
    });
  }

  /** Begins a call, and sends these bytes of it; it is not ended. */
  call(path: string, bytes?: Buffer, more: http2.OutgoingHttpHeaders = {}): RawCall {
    const stream = this.session.request(headersOf({ ':path': path, ...more }));
    if (bytes) stream.write(bytes);
    return new RawCall(stream);
  }

  /** Resolves when the service has read what was sent before. */
  async read(): Promise<void> {
    if (this.session.connecting) await new Promise((done) => this.session.once('connect', done));
    return new Promise((resolve, reject) => {
      this.session.ping((error) => (error ? reject(error) : resolve()));
    });
  }

  /** As a process that is killed does. */
  leave(): void {
    this.session.destroy();
  }
}

/** A call, and how it ended. */
export class RawCall {
  readonly stream: http2.ClientHttp2Stream;
  /** `14 Why` or, where the connection ends before it, `cut`. */
  readonly status: Promise<string>;
  /** The first bytes of its answer are there. */
  readonly answered: Promise<unknown>;
  isOver = false;

  constructor(stream: http2.ClientHttp2Stream) {
    this.stream = stream;
    this.answered = new Promise((resolve) => stream.once('response', resolve));
    this.status = new Promise((resolve) => {
      const end = (status: string): void => {
        this.isOver = true;
        resolve(status);
      };
      const settle = (headers: http2.IncomingHttpHeaders): void => {
        const { 'grpc-status': code, 'grpc-message': said } = headers;
        if (code !== undefined) end(`${code} ${decodeURI(String(said))}`);
      };
      stream.on('response', settle).on('trailers', settle);
      stream.on('error', () => {}).on('close', () => end('cut'));
    });
    stream.resume();
  }
}

function headersOf(more: http2.OutgoingHttpHeaders = {}): http2.OutgoingHttpHeaders {
  return {
    ':method': 'POST',
    ':path': INFER,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...more,
  };
}

/** Sends bytes as the body of a call; resolves with its status and what it says. */
export function raw(
  session: http2.ClientHttp2Session,
  body: Buffer,
  more: http2.OutgoingHttpHeaders = {},
): Promise<string> {
  const { stream, status } = new RawCall(session.request(headersOf(more)));
  stream.end(body);
  return status;
}

/** A message with gRPC's prefix: whether it is compressed, and its length. */
export function frame(message: Buffer, compressed = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** A ModelInferRequest of texts, in protobuf. */
export function messageOf(...texts: readonly string[]): Buffer {
  const field = (number: number, content: Buffer | string): Buffer => {
    const bytes = Buffer.from(content);
    return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
  };
  const contents = Buffer.concat(texts.map((text) => field(8, text)));
  const shape = Buffer.from(varint(texts.length));
  const input = [field(1, 'TEXT'), field(2, 'BYTES'), field(3, shape), field(5, contents)];
  return Buffer.concat([field(1, 'sentiment'), field(5, Buffer.concat(input))]);
}

/** A question to the reflection service, of which a stream may have any number. */
export const LIST_SERVICES = frame(Buffer.from([0x3a, 1, 0x2a]));

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
