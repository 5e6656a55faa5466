import http from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  EegClient,
  NoAnswerError,
  type Outcome,
  SentimentClient,
  type TextElement,
} from '../../src/client';
import { request } from '../helpers/http';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { CALM, SLOW, startEeg } from '../helpers/stuck';

const TEXTS = Array.from({ length: 200 }, (_, i) => `film number ${i}`);

let service: Service;

beforeAll(async () => {
  service = await startService('sentiment', { env: textModel('bert-single-label') });
});

afterAll(killAll);

/** Accepts every connection; passes on what comes, or, while it is silent, keeps it. */
class Gate {
  isSilent = false;
  /** Connections that were never answered. */
  swallowed = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server = net.createServer((socket) => this.#accept(socket));

  readonly #target: Service | null;

  constructor(target: Service | null) {
    this.#target = target;
  }

  async open(): Promise<SentimentClient> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo;
    return new SentimentClient(`http://127.0.0.1:${port}`);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #accept(socket: Socket): void {
    const keep = (one: Socket): void => {
      this.#sockets.add(one);
      one.on('error', () => one.destroy()); // whoever waits in vain resets its connection
    };
    keep(socket);
    if (this.isSilent || !this.#target) {
      this.swallowed++;
      socket.resume();
      return;
    }
    const { hostname, port } = new URL(this.#target.origin);
    const other = net.connect(Number(port), hostname);
    keep(other);
    const pass = (from: Socket, to: Socket): void => {
      from.on('data', (block) => this.isSilent || to.write(block));
      from.on('close', () => to.destroy());
    };
    pass(socket, other);
    pass(other, socket);
  }
}

describe('a service that accepts connections and answers nothing', () => {
  it('from the start: ends it at its first element', async () => {
    const gate = new Gate(null);
    const client = await gate.open();
    const options = { timeoutMs: 200 };
    const error = await client
      .analyzeAll(TEXTS, options)
      .next()
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(error).toMatchObject({ next: 0, cause: { name: 'TimeoutError' } });
    expect(error.message).toBe(
      'The server does not respond: continue from element 0. Last error: No response within 200 ms.',
    );
    expect(gate.swallowed).toBe(3);
    gate.close();
  });

  it.each([
    { batchSize: 8, concurrency: 4, lookAhead: 128 },
    { batchSize: 1, concurrency: 1, lookAhead: 4 },
  ])('after some, and comes back: each row once and in order, none blamed (%j)', async (lists) => {
    const gate = new Gate(service);
    const client = await gate.open();
    const outcomes: Outcome<TextElement, { readonly input_text: string }>[] = [];
    const errors: NoAnswerError[] = [];
    const texts = [...TEXTS, ...TEXTS];
    for (let next = 0; next < texts.length; ) {
      try {
        const options = { ...lists, retries: 1, timeoutMs: 2000 };
        for await (const one of client.analyzeAll(texts.slice(next), options)) {
          outcomes.push({ ...one, index: next + one.index });
          // Once, in the middle of it all.
          if (outcomes.length === 120) gate.isSilent = true;
        }
        next = texts.length;
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error;
        errors.push(error);
        next += error.next;
        expect(outcomes.length).toBe(next);
        gate.isSilent = false;
      }
    }
    expect(outcomes.map(({ index, input }) => [index, input])).toEqual([...texts.entries()]);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
    // The source is read no further than 128 elements ahead, so the silence is met in any case.
    expect(errors.length).toBeGreaterThan(0);
    // Twice each list that was under way, and twice what shows that the service is the cause.
    expect(gate.swallowed).toBeLessThanOrEqual(4 * lists.concurrency);
    gate.close();
  });
});

describe('an element that takes too long', () => {
  /** Passes requests on, and keeps those with a certain word: large packets that a network drops. */
  async function startSwallowing(word: string): Promise<http.Server> {
    const server = http.createServer(async (incoming, outgoing) => {
      const body = await text(incoming);
      if (body.includes(word)) return;
      const { method = '', url = '' } = incoming;
      const answer = await request(service, { method, path: url, body });
      outgoing.writeHead(answer.status).end(answer.text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  it('has its error where the service answers all others, however many follow each other', async () => {
    const server = await startSwallowing('poison');
    const { port } = server.address() as AddressInfo;
    const client = new SentimentClient(`http://127.0.0.1:${port}`);
    const texts = TEXTS.slice(0, 12);
    for (const i of [3, 4, 11]) texts[i] = `poison ${i}`;
    const said: string[] = [];
    const options = { batchSize: 6, concurrency: 1, retries: 0, timeoutMs: 3000 };
    for await (const one of client.analyzeAll(texts, options)) {
      said.push(one.ok ? one.result.input_text : one.error.name);
    }
    server.closeAllConnections();
    server.close();
    expect(said).toEqual(texts.map((one) => (one.startsWith('poison') ? 'TimeoutError' : one)));
  });

  it('has its error where the service says that the model ran for too long, be it the first', async () => {
    const slow = await startEeg('endless-on-large-input', { INFERENCE_TIMEOUT_MS: '1000' });
    const said: string[] = [];
    for await (const one of new EegClient(slow.origin).predictAll([SLOW, SLOW, CALM], {
      retries: 0,
    })) {
      said.push(one.ok ? one.result.diagnosis : one.error.message);
    }
    const overrun = '504: The model ran longer than 1000 ms.';
    expect(said).toEqual([overrun, overrun, expect.not.stringContaining('504')]);
    await slow.stop();
  });
});
