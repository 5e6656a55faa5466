import http from 'node:http';
import type { AddressInfo } from 'node:net';

interface Asked {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** What it answers, over the text of the last message. */
const tell = (text: string): string => `You said: ${text} Write to help@example.org, please.`;

/** A language model behind OpenAI's API that says what it was told; in streams in pieces of seven characters. */
export class ChatUpstream {
  /** Texts of the last messages, as they came. */
  readonly told: string[] = [];
  readonly #server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString();
      if (request.method !== 'POST') response.writeHead(404).end();
      else this.#answer(JSON.parse(body) as Asked, response);
    });
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer({ messages, stream }: Asked, response: http.ServerResponse): void {
    const text = messages.at(-1)?.content ?? '';
    this.told.push(text);
    const common = { id: 'chatcmpl-1', created: 1, model: 'echo' };
    if (!stream) {
      const message = { role: 'assistant', content: tell(text) };
      const choices = [{ index: 0, finish_reason: 'stop', message }];
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta: object, finish_reason: string | null = null): void => {
      const choices = [{ index: 0, delta, finish_reason }];
      const event = { ...common, object: 'chat.completion.chunk', choices };
      response.write(`data: ${JSON.stringify(event)}\n\n`);
    };
    for (const [content] of tell(text).matchAll(/.{1,7}/gsu)) send({ content });
    send({}, 'stop');
    response.end('data: [DONE]\n\n');
  }
}
