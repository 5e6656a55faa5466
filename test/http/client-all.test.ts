import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Outcome, ResponseError, SentimentClient, type TextElement } from '../../src/client';
import { startHolding } from '../helpers/holding';
import { request } from '../helpers/http';
import { scrape, untilScraped } from '../helpers/metrics';
import { killAll, type Service, startService, textModel } from '../helpers/service';

type TextOutcome = Outcome<TextElement, { readonly input_text: string }>;

const MODEL = textModel('bert-single-label');
const TEXTS = Array.from({ length: 200 }, (_, i) => `film number ${i}`);

let service: Service;
let client: SentimentClient;

beforeAll(async () => {
  service = await startService('sentiment', { env: MODEL });
  client = new SentimentClient(service.origin);
});

afterAll(killAll);

async function collect<Element>(source: AsyncIterable<Element>): Promise<Element[]> {
  const all = [];
  for await (const one of source) all.push(one);
  return all;
}

/** What each answer is about; of an error its message. */
function summary(outcomes: readonly TextOutcome[]): readonly string[] {
  return outcomes.map((one) => (one.ok ? one.result.input_text : one.error.message));
}

/** Counts what is taken from it, and knows whether it was closed. */
class Watched {
  taken = 0;
  isClosed = false;

  *endless(): Generator<string> {
    try {
      for (;;) yield `film number ${this.taken++}`;
    } finally {
      this.isClosed = true;
    }
  }
}

describe('analyzeAll', () => {
  it('answers every element, in order, as the service answers lists', async () => {
    const outcomes = await collect(client.analyzeAll(TEXTS, { batchSize: 7, concurrency: 3 }));
    expect(outcomes.map(({ index, input }) => [index, input])).toEqual([...TEXTS.entries()]);
    const results = outcomes.map((one) => (one.ok ? one.result : one.error));
    expect(results).toEqual(await client.analyzeBatch(TEXTS));
  });

  it('takes generators, and rows of which it sends the text', async () => {
    async function* rows() {
      for (const [id, text] of TEXTS.entries()) yield { id, text, patient: 'not sent' };
    }
    const outcomes = await collect(client.analyzeAll(rows()));
    expect(summary(outcomes)).toEqual(TEXTS);
    expect(outcomes.map(({ input }) => input.id)).toEqual([...TEXTS.keys()]);
    expect(await collect(client.analyzeAll(new Set<string>()))).toEqual([]);
  });

  it('takes texts with their pairs, beside texts alone', async () => {
    const texts = [
      { text: 'A man eats.', textPair: 'Somebody is eating.', id: 1 },
      { text: 'A man eats.', textPair: null, id: 2 },
      'A man eats.',
    ];
    const outcomes = await collect(client.analyzeAll(texts, { batchSize: 2 }));
    const results = outcomes.map((one) => (one.ok ? one.result : one.error));
    const expected = await client.analyzeBatch(texts);
    expect(results).toEqual(expected);
    expect(expected.map((one) => one.input_text_pair)).toEqual([
      'Somebody is eating.',
      undefined,
      undefined,
    ]);
  });

  it('has no use for what is no source, nor for options that are no counts', () => {
    const wrong = 'a text' as unknown as string[];
    expect(() => client.analyzeAll(wrong)).toThrow(
      new TypeError('source: expected an iterable or an async iterable of elements'),
    );
    expect(() => client.analyzeAll([], { concurrency: 0 })).toThrow(
      new RangeError('concurrency: expected a whole number, at least 1, received 0'),
    );
  });

  it('gives answers of later elements first, if asked to', async () => {
    const slowFirst = ['film '.repeat(20_000), ...TEXTS];
    const options = { ordered: false, batchSize: 1, concurrency: 2 };
    const indexes = (await collect(client.analyzeAll(slowFirst, options))).map(
      ({ index }) => index,
    );
    expect(indexes.toSorted((a, b) => a - b)).toEqual([...slowFirst.keys()]);
  });

  it('keeps to the limits of the service', async () => {
    const env = { ...MODEL, MAX_LIST_LENGTH: '5', BODY_LIMIT: '200' };
    const narrow = await startService('sentiment', { env });
    const long = 'é'.repeat(60); // three of them would be over
    const texts = [...TEXTS.slice(0, 20), ...Array(10).fill(long), 'x'.repeat(190)];
    const outcomes = await collect(new SentimentClient(narrow.origin).analyzeAll(texts));
    const tooLong = "texts[30]: the request body exceeds the server's limit of 200 bytes";
    expect(summary(outcomes)).toEqual([...texts.slice(0, 30), tooLong]);
    expect((await scrape(narrow)).requests).toEqual({
      '/info 200': 1,
      '/analyze/batch 200': 4 + 10,
    });
    await narrow.stop();
  });
});

describe('a bad element', () => {
  it('has its error, and costs the others of its list nothing', async () => {
    const texts: string[] = [...TEXTS];
    for (const i of [0, 31, 32, 33, 199]) texts[i] = ' ';
    texts[40] = 17 as unknown as string;
    const outcomes = await collect(client.analyzeAll(texts, { batchSize: 32 }));
    expect(outcomes.map(({ index }) => index)).toEqual([...TEXTS.keys()]);
    const expected = texts.map((text, i) => {
      if (i === 40) return '422: texts[40]: expected a string or an object';
      return text === ' ' ? `400: texts[${i}]: Text payload cannot be empty.` : text;
    });
    expect(summary(outcomes)).toEqual(expected);
    expect(outcomes[40]).toMatchObject({ ok: false, error: expect.any(ResponseError) });
  });

  it('is found where a proxy takes smaller bodies, and does not say which element failed', async () => {
    const sizes: number[] = [];
    const proxy = http.createServer(async (incoming, outgoing) => {
      const body = await text(incoming);
      if (incoming.method === 'POST') sizes.push(JSON.parse(body).texts.length);
      if (body.length > 300) outgoing.writeHead(413).end('<html>too large</html>');
      else if (body.includes('poison')) outgoing.writeHead(500).end('{"detail":"failed"}');
      else {
        const { method = '', url = '' } = incoming;
        const answer = await request(service, { method, path: url, body });
        outgoing.writeHead(answer.status).end(answer.text);
      }
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const texts = [...TEXTS.slice(0, 32)];
    [texts[3], texts[20]] = ['x'.repeat(300), 'poison'];
    const narrow = new SentimentClient(`http://127.0.0.1:${port}`);
    const outcomes = await collect(narrow.analyzeAll(texts));
    proxy.closeAllConnections();
    proxy.close();
    const expected = [...texts];
    [expected[3], expected[20]] = ['413: <html>too large</html>', '500: failed'];
    expect(summary(outcomes)).toEqual(expected);
    // Halves until they fit; the list with the poison one by one.
    expect(sizes).toEqual([32, 16, 8, 4, 2, 2, 1, 1, 4, 8, 16, ...Array(16).fill(1)]);
  });
});

describe('memory', () => {
  it('is bounded: the source is read as its outcomes are consumed', async () => {
    const watched = new Watched();
    const lookAhead = 50;
    const all = client.analyzeAll(watched.endless(), { lookAhead, batchSize: 8 });
    expect(watched.taken).toBe(0);
    for (let consumed = 1; consumed <= 300; consumed++) {
      const { value } = await all.next();
      expect(value.index).toBe(consumed - 1);
      expect(watched.taken).toBeLessThanOrEqual(consumed + lookAhead);
    }
    await all.return?.();
    expect(watched.isClosed).toBe(true);
  });

  it('is bounded by less than a list, too', async () => {
    const outcomes = await collect(client.analyzeAll(TEXTS, { lookAhead: 3, batchSize: 32 }));
    expect(summary(outcomes)).toEqual(TEXTS);
  });
});

it('sends what it has where the source waits for an outcome', async () => {
  let answered: (outcome: TextOutcome) => void = () => {};
  async function* conversation() {
    let text = 'the first film';
    for (let i = 0; i < 3; i++) {
      const outcome = new Promise<TextOutcome>((resolve) => {
        answered = resolve;
      });
      yield text;
      text = `after ${summary([await outcome])}`;
    }
  }
  const texts = [];
  for await (const outcome of client.analyzeAll(conversation())) {
    texts.push(outcome.input);
    answered(outcome);
  }
  expect(texts).toEqual(['the first film', 'after the first film', 'after after the first film']);
});

describe('leaving early', () => {
  let holding: Service;
  let waiting: SentimentClient;

  beforeEach(async () => {
    holding = await startHolding(60_000, {});
    waiting = new SentimentClient(holding.origin);
  });

  afterEach(() => holding.kill('SIGKILL'));

  async function untilTaken(): Promise<void> {
    await untilScraped(
      'an input in the queue',
      holding,
      (seen) => (seen.value('libtorch_serve_queue_inputs') ?? 0) > 0,
    );
  }

  it('drops what is under way and closes the source', async () => {
    const watched = new Watched();
    const all = waiting.analyzeAll(watched.endless(), { lookAhead: 4 });
    const next = all.next();
    await untilTaken();
    expect(await all.return?.()).toEqual({ done: true, value: undefined });
    expect(await next).toEqual({ done: true, value: undefined });
    expect(watched.isClosed).toBe(true);
    await holding.waitForLog(({ status }) => status === 499);
  });

  it('does not wait for a source that gives nothing more', async () => {
    async function* silent() {
      yield 'one film';
      await new Promise(() => {});
    }
    const all = waiting.analyzeAll(silent());
    const next = all.next();
    await untilTaken();
    await all.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('rejects with the reason where it is aborted', async () => {
    const reason = new Error('changed my mind');
    const controller = new AbortController();
    const watched = new Watched();
    const all = waiting.analyzeAll(watched.endless(), { signal: controller.signal, lookAhead: 4 });
    const next = all.next();
    await untilTaken();
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
    expect(watched.isClosed).toBe(true);
    await holding.waitForLog(({ status }) => status === 499);
    await expect(waiting.analyzeAll(TEXTS, { signal: controller.signal }).next()).rejects.toBe(
      reason,
    );
  });
});

describe('what ends everything', () => {
  async function ending(
    all: AsyncIterable<TextOutcome>,
  ): Promise<{ readonly outcomes: number; readonly error: unknown }> {
    let outcomes = 0;
    try {
      for await (const { index } of all) expect(index).toBe(outcomes++);
    } catch (error) {
      return { outcomes, error };
    }
    throw new Error('it did not reject');
  }

  it('is an error of the source, after the outcomes of what came before', async () => {
    const broken = new Error('the disk is gone');
    function* source() {
      yield* TEXTS;
      throw broken;
    }
    const { outcomes, error } = await ending(client.analyzeAll(source()));
    expect([outcomes, error]).toEqual([TEXTS.length, broken]);
  });

  it('is a service that is not there any more, after the outcomes of what it answered', async () => {
    const mortal = await startService('sentiment', { env: MODEL });
    const watched = new Watched();
    function* source() {
      for (const text of watched.endless()) {
        if (watched.taken === 600) mortal.kill('SIGKILL');
        yield text;
      }
    }
    const retries: string[] = [];
    const options = { retryForMs: 500, onRetry: ({ name }: Error) => retries.push(name) };
    const all = new SentimentClient(mortal.origin).analyzeAll(source(), options);
    const { outcomes, error } = await ending(all);
    expect(error).toMatchObject({ name: 'TypeError' });
    expect(outcomes).toBeLessThan(watched.taken);
    expect(outcomes % 32).toBe(0);
    expect(new Set(retries)).toEqual(new Set(['TypeError']));
    expect(watched.isClosed).toBe(true);
  });

  it('is a service in which nothing runs in time', async () => {
    // The worker waits for company for longer than a request may wait.
    const slow = await startHolding(1000, { REQUEST_TIMEOUT_MS: '100', WORKERS: '1' });
    const all = new SentimentClient(slow.origin).analyzeAll(['a', 'b']);
    const message = '504: texts[0]: The deadline of 100 ms passed before the model ran.';
    const error = { name: 'NoAnswerError', next: 0, cause: { message } };
    expect(await ending(all)).toMatchObject({ outcomes: 0, error });
    // The list three times, then its first text.
    expect((await scrape(slow)).requests['/analyze/batch 504']).toBe(6);
    await slow.stop();
  });

  it('is a key that is missing, and a model', async () => {
    const [guarded, empty] = await Promise.all([
      startService('sentiment', { env: { ...MODEL, API_KEY: 'the-key-of-this-test' } }),
      startService('sentiment', { env: { SENTIMENT_MODEL_DIR: '/nonexistent/model' } }),
    ]);
    const unknown = await ending(new SentimentClient(guarded.origin).analyzeAll(TEXTS));
    expect(unknown).toMatchObject({ outcomes: 0, error: { status: 401 } });
    const unloaded = await ending(new SentimentClient(empty.origin).analyzeAll(TEXTS));
    expect(unloaded).toMatchObject({
      outcomes: 0,
      error: { status: 500, detail: 'Model is not loaded.' },
    });
    await Promise.all([guarded.stop(), empty.stop()]);
  });
});
