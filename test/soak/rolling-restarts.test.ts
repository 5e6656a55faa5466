import http from 'node:http';
import { type Answer, post } from '../helpers/http';
import { type Scrape, untilScraped } from '../helpers/metrics';
import { needs } from '../helpers/needs';
import { freePort } from '../helpers/ports';
import { PROXIES, startReplica, stopProxies } from '../helpers/proxies';
import { killAll, Service } from '../helpers/service';
import { budgeted, report } from './budget';

/** Each restarts both replicas, one after the other. */
const ROLLING_RESTARTS = budgeted({ ci: 1, standard: 20, long: 100 });
const CLIENTS = 12;
/** Requests that a replica has to answer after its start, before the other one is stopped. */
const ANSWERED = 20;

afterAll(async () => {
  stopProxies();
  await killAll();
});

/** Requests through the proxy, one after the other for each client, until `stop`. */
class Load {
  /** What came that is not the answer to its request. */
  readonly failures: string[] = [];
  answered = 0;
  #isStopped = false;
  readonly #target: Service;
  readonly #clients: Promise<void>[];

  constructor(port: number) {
    this.#target = Object.assign(Object.create(Service.prototype), { port }) as Service;
    this.#clients = Array.from({ length: CLIENTS }, (_, i) => this.#client(i));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
  }

  async #client(client: number): Promise<void> {
    // A third of them connects anew for each request.
    const agent = client % 3 === 0 ? undefined : new http.Agent({ keepAlive: true, maxSockets: 1 });
    const options = agent && { agent };
    for (let i = 0; !this.#isStopped; i++) {
      const texts = Array.from(
        { length: i % 8 === 0 ? 20 : 1 },
        (_, k) => `film ${client} ${i} ${k}`,
      );
      const [route, body] =
        texts.length === 1 ? ['/analyze', { text: texts[0] }] : ['/analyze/batch', { texts }];
      try {
        this.#judge(texts, await post(this.#target, route as string, body, options));
      } catch (error) {
        this.failures.push((error as Error).message);
      }
    }
    agent?.destroy();
  }

  #judge(texts: readonly string[], { status, text, json }: Answer): void {
    const { input_text, results = [] } = (json ?? {}) as {
      readonly input_text?: string;
      readonly results?: readonly { readonly input_text: string }[];
    };
    const echoed = input_text === undefined ? results.map((one) => one.input_text) : [input_text];
    if (status === 200 && echoed.join() === texts.join()) this.answered++;
    else this.failures.push(`${status} ${text.slice(0, 200)}`);
  }
}

function untilAsked(replica: Service): Promise<unknown> {
  const isAsked = ({ requests }: Scrape) => (requests['/analyze 200'] ?? 0) >= ANSWERED;
  return untilScraped(`${ANSWERED} requests that the replica answers`, replica, isAsked);
}

describe.each(PROXIES)('behind $name', (kind) => {
  const { it: itWithProxy } = needs(kind.tool);

  itWithProxy('rolling restarts of two replicas lose no request', async () => {
    const ports = [await freePort(), await freePort()] as const;
    const replicas = await Promise.all(ports.map((port) => startReplica(port, kind.settings)));
    const proxy = await kind.start([...ports]);
    const load = new Load(proxy.port);
    const exits: unknown[] = [];
    for (let round = 0; round < ROLLING_RESTARTS; round++) {
      for (const [i, port] of ports.entries()) {
        await Promise.all(replicas.map(untilAsked));
        exits.push(await replicas[i]?.stop());
        replicas[i] = await startReplica(port, kind.settings);
      }
    }
    await Promise.all(replicas.map(untilAsked));
    await load.stop();
    report(`rolling restarts behind ${kind.name}`, {
      rollingRestarts: ROLLING_RESTARTS,
      answered: load.answered,
      lost: load.failures.length,
    });
    expect(load.failures.slice(0, 5)).toEqual([]);
    expect(load.answered).toBeGreaterThan(ANSWERED * exits.length);
    expect(exits).toEqual(Array(2 * ROLLING_RESTARTS).fill({ code: 0, signal: null }));
    await proxy.stop();
    await Promise.all(replicas.map((replica) => replica.stop()));
  });
});
