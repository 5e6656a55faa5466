import path from 'node:path';
import {
  type CallOptions,
  type ChannelCredentials,
  type Client,
  type ClientDuplexStream,
  type ClientOptions,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { protoPath } from 'grpc-health-check';
import { ROOT, type Service } from './service';
import { until } from './until';

const PROTOS = path.join(ROOT, 'src/protocols/open-inference/grpc/protos');
const LOADED = loadSync(['grpc_service.proto', protoPath], {
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
  includeDirs: [PROTOS],
});

type Constructor = new (
  address: string,
  how: ChannelCredentials,
  options?: ClientOptions,
) => Client & Readonly<Record<string, (...given: unknown[]) => unknown>>;

export interface GrpcAnswer {
  /** `OK`, `INVALID_ARGUMENT` and so on. */
  readonly status: string;
  readonly details: string;
  readonly message: Readonly<Record<string, unknown>> | undefined;
  readonly trailers: Readonly<Record<string, unknown>>;
}

export interface GrpcCall {
  readonly answer: Promise<GrpcAnswer>;
  readonly cancel: () => void;
}

export interface GrpcOptions extends CallOptions {
  readonly metadata?: Readonly<Record<string, string>>;
}

const INFERENCE = 'inference.GRPCInferenceService';
const HEALTH = 'grpc.health.v1.Health';

/** A connection of its own to the gRPC port of a service. */
export class GrpcClient {
  readonly #clients: readonly InstanceType<Constructor>[];

  constructor({ grpcPort }: Pick<Service, 'grpcPort'>, ca?: string) {
    const how = ca ? credentials.createSsl(Buffer.from(ca)) : credentials.createInsecure();
    this.#clients = [INFERENCE, HEALTH].map((name) => {
      const packages = loadPackageDefinition({ [name]: LOADED[name] as never });
      const found = name
        .split('.')
        .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], packages);
      // A pool of its own: else channels with the same options share a connection.
      return new (found as Constructor)(`127.0.0.1:${grpcPort}`, how, {
        'grpc.use_local_subchannel_pool': 1,
        'grpc.enable_retries': 0,
        ...(ca && { 'grpc.ssl_target_name_override': 'localhost' }),
      });
    });
  }

  call(method: string, message: object = {}, options: GrpcOptions = {}): GrpcCall {
    const { metadata, ...more } = options;
    const sent = new Metadata();
    for (const [key, value] of Object.entries(metadata ?? {})) sent.set(key, value);
    let cancel = (): void => {};
    const answer = new Promise<GrpcAnswer>((resolve) => {
      let result: [ServiceError | null, GrpcAnswer['message']] | null = null;
      const client = this.#clients.find((one) => method in one) as InstanceType<Constructor>;
      const call = client[method]?.(message, sent, more, ((error, given) => {
        result = [error, given];
      }) satisfies (error: ServiceError | null, given: GrpcAnswer['message']) => void) as {
        cancel: () => void;
        on: (event: 'status', listener: (ended: Ended) => void) => void;
      };
      call.on('status', ({ code, details, metadata: trailers }) => {
        resolve({
          status: status[code] as string,
          details,
          message: result?.[1],
          trailers: trailers.getMap(),
        });
      });
      cancel = () => call.cancel();
    });
    return { answer, cancel };
  }

  /** ModelStreamInfer. */
  stream(options: GrpcOptions = {}): GrpcStream {
    const { metadata, ...more } = options;
    const sent = new Metadata();
    for (const [key, value] of Object.entries(metadata ?? {})) sent.set(key, value);
    const [client] = this.#clients;
    return new GrpcStream(client?.ModelStreamInfer?.(sent, more) as Duplex);
  }

  /** Statuses of health, as they come. */
  watch(service = ''): AsyncIterable<{ readonly status: string }> & { cancel: () => void } {
    const [, client] = this.#clients;
    return client?.watch?.({ service }) as ReturnType<GrpcClient['watch']>;
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }
}

type Duplex = ClientDuplexStream<object, StreamResult>;

/** Of ModelStreamInfer. */
export interface StreamResult {
  readonly error_message: string;
  readonly infer_response: Readonly<Record<string, unknown>> & { readonly id: string };
}

/** A stream of requests, and what has come of it. */
export class GrpcStream {
  readonly answers: StreamResult[] = [];
  /** How it ended: `OK`, or the status and what it says. */
  readonly ended: Promise<string>;
  readonly #call: Duplex;

  constructor(call: Duplex) {
    this.#call = call;
    call.on('data', (answer: StreamResult) => this.answers.push(answer));
    call.on('error', () => {});
    this.ended = new Promise((resolve) => {
      call.on('status', ({ code, details }: Ended) => {
        resolve(code === status.OK ? 'OK' : `${status[code]} ${details}`);
      });
    });
  }

  send(message: object): void {
    this.#call.write(message);
  }

  /** It sends no more. */
  end(): void {
    this.#call.end();
  }

  cancel(): void {
    this.#call.cancel();
  }

  /** Resolves when so many answers have come. */
  async until(count: number): Promise<readonly StreamResult[]> {
    await until(`${count} answers of a stream`, () => this.answers.length >= count);
    return this.answers;
  }
}

interface Ended {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** A request of typed contents for the sentiment service. */
export function textRequest(...texts: readonly string[]): object {
  return {
    model_name: 'sentiment',
    inputs: [
      {
        name: 'TEXT',
        datatype: 'BYTES',
        shape: [texts.length],
        contents: { bytes_contents: texts.map((text) => Buffer.from(text)) },
      },
    ],
  };
}
