/** What the other event loops do while one of them does nothing. */
import { askAll, LoopBlocker } from '../helpers/event-loops';
import { Folder } from '../helpers/files';
import { post, request } from '../helpers/http';
import { Scrape, scrape } from '../helpers/metrics';
import { analyzeHead, analyzeRequest, RawClient } from '../helpers/raw-clients';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';
import { times } from '../helpers/times';
import { until } from '../helpers/until';

const LOOPS = 3;
const MODEL = textModel('bert-single-label');
const BODY = { text: 'good' };

const folder = new Folder();
let blocker: LoopBlocker;
beforeEach(() => {
  blocker = new LoopBlocker();
});
afterEach(async () => {
  await killAll();
  blocker.remove();
});
afterAll(() => folder.remove());

function start(env: Readonly<Record<string, string>>): Promise<Service> {
  const { nodeArgs } = blocker;
  const settings = { ...MODEL, EVENT_LOOPS: String(LOOPS), ...blocker.env, ...env };
  return startService('sentiment', { nodeArgs, env: settings });
}

it('gets the keys that were read meanwhile, not what the file has become since', async () => {
  const [old, fresh] = ['the-first-key-of-the-test', 'another-key-of-the-same-test'] as const;
  const keys = folder.put('keys', `${old}\n`);
  const service = await start({ API_KEYS_FILE: keys, LOG_LEVEL: 'debug' });
  const ask = (key: string) =>
    post(service, '/analyze', BODY, { headers: { authorization: `Bearer ${key}` } });

  await blocker.block(2);
  folder.put('keys', `${fresh}\n`);
  service.kill('SIGHUP');
  await until('the others to have the new key', async () => {
    return (await askAll(service, { route: '/analyze', loops: LOOPS - 1 }, () => ask(fresh))).every(
      ({ status }) => status === 200,
    );
  });
  const isSaid = () => service.logs.some(({ msg }) => msg === 'API_KEYS_FILE was read again');
  const wasSaid = isSaid();
  folder.put('keys', ''); // as whoever writes it anew, in place, leaves it for a moment
  await blocker.release(2);

  await until('the log to say that all have it', isSaid);
  const answers = await askAll(service, { route: '/analyze', loops: LOOPS }, () => ask(old));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  expect(wasSaid).toBe(false); // one had not
  await service.stop();
});

describe('/metrics', () => {
  const REQUESTS = 'libtorch_serve_http_requests_total';
  const ANALYZE = { route: '/analyze', status: '200' };
  const SILENT = 'libtorch_serve_event_loops_silent';

  it('is answered with what the blocked one said last, and says how many are silent', async () => {
    const service = await start({ LOG_LEVEL: 'debug' }); // a line for each scrape
    const analyze = () => post(service, '/analyze', BODY);
    const { length: asked } = await askAll(service, { route: '/analyze', loops: LOOPS }, analyze);
    const figures = (seen: Scrape) => [seen.value(REQUESTS, ANALYZE), seen.value(SILENT)];
    const reach = (count: number, silent: number) =>
      until(`${count} requests to be counted, with ${silent} event loops silent`, async () => {
        return figures(await scrape(service)).join() === [count, silent].join();
      });
    await reach(asked, 0);

    await blocker.block(1);
    // As often as it takes for both of the others to be asked.
    const route = { route: '/metrics', loops: LOOPS - 1 };
    const scrapes = await askAll(service, route, () => request(service, { path: '/metrics' }));
    for (const { text } of scrapes) expect(figures(new Scrape(text))).toEqual([asked, 1]);
    await analyze();
    await reach(asked + 1, 1);

    await blocker.release(1);
    await reach(asked + 1, 0);
    await service.stop();
  });
});

describe('MAX_CONNECTIONS', () => {
  /** Clients that an event loop waits for: it has read the headers of their requests. */
  async function stuck(service: Service, count: number): Promise<readonly RawClient[]> {
    const clients: RawClient[] = [];
    for (let i = 0; i < count; i++) {
      const client = await new RawClient(service).connected();
      client.write(analyzeHead(100));
      await client.receives(/100 Continue/);
      clients.push(client);
    }
    return clients;
  }

  const areClosed = (clients: readonly RawClient[]) => clients.map(({ isClosed }) => isClosed);

  it('may all be on one event loop, whose longest waiting one makes room for another loop', async () => {
    const service = await start({ MAX_CONNECTIONS: '8' });
    await blocker.block(1, 2);
    const clients = await stuck(service, 8);
    expect(areClosed(clients)).toEqual(Array(8).fill(false));

    await blocker.release(1, 2);
    await blocker.block(0);
    const [newcomer] = await stuck(service, 1);
    await blocker.release(0);
    await until('the first to make room', () => clients[0]?.isClosed);
    expect(clients[0]?.received).toMatch(/HTTP\/1\.1 408 [\s\S]*not received in time/);
    expect((await post(service, '/analyze', BODY)).status).toBe(200);
    expect(newcomer?.isClosed).toBe(false);
    for (const client of clients) client.leave();
    newcomer?.leave();
  });

  it('holds for all event loops together', async () => {
    const service = await start({ MAX_CONNECTIONS: '8' });
    const clients = await times(60, () => new RawClient(service).connected());
    await until('8 of 60 connections to be left', () => {
      return areClosed(clients).filter((isClosed) => !isClosed).length === 8;
    });
    for (const client of clients) client.leave();
  });

  it('is reached where each event loop would have room, and an answer is due on all', async () => {
    const service = await start({ MAX_CONNECTIONS: '4', MAX_QUEUE_DELAY_MS: '60000' });
    await blocker.block(1, 2);
    const clients: RawClient[] = [];
    const isRefused = async () => {
      // One that was taken may have had to make room before it was read.
      const answer = await request(service, { path: '/health' }).catch(() => null);
      if (!answer || answer.status === 200) return false;
      expectError(answer, 503, 'All connections of the service are in use.');
      return true;
    };
    await until('the only event loop that is not blocked to refuse one more', async () => {
      // Until a request has been read, its connection may make room, so it may take some more.
      const client = await new RawClient(service).connected();
      client.write(analyzeRequest('good'));
      clients.push(client);
      return isRefused();
    });
    await blocker.release(1, 2);
    await until('each event loop to refuse one more', async () => {
      return !(await times(40, isRefused)).includes(false);
    });
    for (const client of clients) client.leave();
    await until('a connection to be taken again', async () => !(await isRefused()));
  });
});
