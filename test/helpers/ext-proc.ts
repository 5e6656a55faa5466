import path from 'node:path';
import {
  type ClientDuplexStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ROOT, type Service } from './service';
import { until } from './until';

const LOADED = loadSync('envoy/service/ext_proc/v3/external_processor.proto', {
  keepCase: true,
  enums: String,
  includeDirs: [path.join(ROOT, 'src/protocols/envoy/protos')],
});

type Answer = Readonly<Record<string, never>>;

interface Client {
  Process(metadata: Metadata): ClientDuplexStream<object, Answer>;
  close(): void;
}

/** What Envoy would send for one HTTP request, a message at a time. */
export class ExtProcStream {
  readonly answers: Answer[] = [];
  /** `OK`, or the status and what it says. */
  readonly ended: Promise<string>;
  readonly #call: ClientDuplexStream<object, Answer>;
  readonly #client: Client;

  constructor(
    { grpcPort }: Pick<Service, 'grpcPort'>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const packages = loadPackageDefinition(LOADED) as never as {
      envoy: {
        service: { ext_proc: { v3: { ExternalProcessor: new (...given: unknown[]) => Client } } };
      };
    };
    const { ExternalProcessor } = packages.envoy.service.ext_proc.v3;
    this.#client = new ExternalProcessor(`127.0.0.1:${grpcPort}`, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
    });
    const metadata = new Metadata();
    for (const [key, value] of Object.entries(headers)) metadata.set(key, value);
    this.#call = this.#client.Process(metadata);
    this.#call.on('data', (answer: Answer) => this.answers.push(answer)).on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.#call.on('status', ({ code, details }) => {
        resolve(code === status.OK ? 'OK' : `${status[code]} ${details}`);
      });
    });
  }

  /** With the first message, as Envoy does, the modes in which bodies come. */
  begin(mode: string, headers: Readonly<Record<string, string>> = {}): void {
    this.send({
      request_headers: { headers: headersOf(headers) },
      protocol_config: { request_body_mode: mode, response_body_mode: mode },
    });
  }

  send(message: object): void {
    this.#call.write(message);
  }

  end(): void {
    this.#call.end();
  }

  /** Resolves with the last of so many answers. */
  async until(count: number): Promise<Answer | undefined> {
    await until(`${count} answers of ext_proc`, () => this.answers.length >= count);
    return this.answers[count - 1];
  }

  close(): void {
    this.#call.cancel();
    this.#client.close();
  }
}

export function headersOf(headers: Readonly<Record<string, string>>): object {
  return {
    headers: Object.entries(headers).map(([key, value]) => ({
      key,
      raw_value: Buffer.from(value),
    })),
  };
}
