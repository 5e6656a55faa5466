import { type ClientOptions, WebSocket } from 'ws';
import { type Address, post, type RequestOptions } from './http';
import { within } from './until';

export interface StreamMessage {
  readonly [key: string]: unknown;
}

/** A WebSocket to a service, and all that has come on it. */
export class StreamClient {
  readonly socket: WebSocket;
  readonly messages: StreamMessage[] = [];
  /** Code and reason. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor({ port }: Address, { path = '/stream', protocols, ...options }: StreamOptions = {}) {
    const scheme = options.ca === undefined ? 'ws' : 'wss';
    this.socket = new WebSocket(`${scheme}://127.0.0.1:${port}${path}`, protocols ?? [], options);
    this.socket.on('message', (data) => {
      this.messages.push(JSON.parse(String(data)) as StreamMessage);
      this.#wake();
    });
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        this.#isClosed = true;
        this.#wake();
        resolve({ code, reason: String(reason) });
      });
    });
  }

  /** Resolves when it is open. @param first message */
  static async open(
    address: Address,
    first: object,
    options: StreamOptions = {},
  ): Promise<StreamClient> {
    const client = new StreamClient(address, options);
    await within(
      () => 'an open WebSocket',
      new Promise((resolve) => client.socket.on('open', resolve)),
    );
    client.say(first);
    return client;
  }

  say(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }

  /** As binary float32. */
  float32(samples: ArrayLike<number>): void {
    this.socket.send(Buffer.from(Float32Array.from(samples).buffer));
  }

  /** Answers to windows. */
  get windows(): readonly StreamMessage[] {
    return this.messages.filter(({ window }) => window !== undefined);
  }

  /** Resolves with the first message that has this key. */
  async first(key: string): Promise<StreamMessage> {
    await this.when(() => this.messages.some((message) => key in message));
    return this.messages.find((message) => key in message) as StreamMessage;
  }

  /** Resolves when it is so, or rejects when the connection is closed before. */
  when(isSo: () => boolean): Promise<void> {
    const wait = async (): Promise<void> => {
      while (!isSo()) {
        if (this.#isClosed) throw new Error(`closed: ${JSON.stringify(this.messages.slice(-3))}`);
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    };
    return within(() => `${isSo}; last: ${JSON.stringify(this.messages.slice(-3))}`, wait());
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

export interface StreamOptions extends ClientOptions {
  readonly path?: string;
  readonly protocols?: string[];
}

/** The answer to an upgrade that is refused. */
export async function refusedUpgrade(
  address: Address,
  options: StreamOptions = {},
): Promise<{ readonly status: number; readonly body: unknown; readonly headers: object }> {
  const { socket } = new StreamClient(address, options);
  return within(
    () => 'a refused upgrade',
    new Promise((resolve, reject) => {
      socket.on('open', () => reject(new Error('it was not refused')));
      socket.on('unexpected-response', (_request, response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += String(chunk);
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: JSON.parse(text),
            headers: response.headers,
          }),
        );
      });
    }),
  );
}

/** What a stream says of a window, as `POST /predict` says it. */
export function said({ diagnosis, confidence, probabilities }: StreamMessage) {
  return { diagnosis, confidence, probabilities };
}

/** What POST /predict/batch says of windows, as answers of streams have it. */
export async function predictions(
  service: Address,
  windows: readonly (readonly number[])[],
  options: Partial<RequestOptions> = {},
) {
  const { json } = await post(service, '/predict/batch', { signals: windows }, options);
  return (json as { readonly results: readonly StreamMessage[] }).results.map(said);
}
