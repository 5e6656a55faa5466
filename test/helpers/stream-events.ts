import http from 'node:http';
import type { Address } from './http';
import type { StreamMessage } from './streams';
import { within } from './until';

/** Events of an answer that goes on. */
export class Events {
  readonly messages: StreamMessage[] = [];
  closed: unknown = null;
  readonly ended: Promise<void>;
  status = 0;
  type: string | undefined;
  readonly request: http.ClientRequest;
  /** Comments, which clients ignore. */
  comments = 0;
  #waiting: (() => void)[] = [];
  #response: http.IncomingMessage | null = null;

  /** @param isPaused nothing is read before `resume` */
  constructor(service: Address, body: object, { isPaused = false } = {}) {
    let end = (): void => {};
    this.ended = new Promise((resolve) => {
      end = resolve;
    });
    this.request = http.request(
      {
        port: service.port,
        host: '127.0.0.1',
        path: '/stream',
        method: 'POST',
        agent: false,
        headers: { 'Content-Type': 'application/json' },
      },
      (response) => {
        this.#response = response;
        this.status = response.statusCode ?? 0;
        this.type = response.headers['content-type'];
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          const events = text.split('\n\n');
          text = events.pop() as string;
          for (const event of events) this.#read(event);
        });
        response.on('close', () => end());
        if (isPaused) response.pause();
      },
    );
    this.request.on('error', () => {});
    this.request.end(JSON.stringify(body));
  }

  resume(): void {
    this.#response?.resume();
  }

  async first(key: string): Promise<StreamMessage> {
    const find = () => this.messages.find((message) => key in message);
    const wait = async (): Promise<void> => {
      while (!find()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    };
    await within(() => `${key} among ${JSON.stringify(this.messages.slice(-3))}`, wait());
    return find() as StreamMessage;
  }

  get windows(): readonly StreamMessage[] {
    return this.messages.filter(({ window }) => window !== undefined);
  }

  #read(event: string): void {
    if (event.startsWith(':')) {
      this.comments++;
      return;
    }
    const data = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] as string) as StreamMessage;
    if (event.startsWith('event: close')) this.closed = data;
    else this.messages.push(data);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
