import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { SentimentClient } from '../../src/client';
import { needs } from '../helpers/needs';
import { freePort } from '../helpers/ports';
import { PROXIES, startReplica, stopProxies } from '../helpers/proxies';
import { killAll, startService, textModel } from '../helpers/service';
import { budgeted, report } from './budget';

/** Each kills a replica with SIGKILL and starts it again. */
const KILLS = budgeted({ ci: 2, standard: 40, long: 200 });
/** Elements between a start and the next kill. */
const BETWEEN = 3000;
const MEMORY_ELEMENTS = budgeted({ ci: 60_000, standard: 2_000_000, long: 20_000_000 });

const run = promisify(execFile);

afterAll(async () => {
  stopProxies();
  await killAll();
});

describe.each(PROXIES)('behind $name', (kind) => {
  const { it: itWithProxy } = needs(kind.tool);

  itWithProxy('analyzeAll answers every element, once, whatever replica is killed', async () => {
    const ports = [await freePort(), await freePort()] as const;
    // So that lists are refused, too.
    const settings = { ...kind.settings, MAX_QUEUE_REQUESTS: '128' };
    const replicas = await Promise.all(ports.map((port) => startReplica(port, settings)));
    const proxy = await kind.start([...ports]);
    let kills = 0;
    let starting: Promise<void> = Promise.resolve();

    async function restart(victim: number): Promise<void> {
      replicas[victim]?.kill('SIGKILL');
      await replicas[victim]?.exit;
      replicas[victim] = await startReplica(ports[victim] as number, settings);
    }

    /** Ends when every kill is over, so that there is always work under way. */
    async function* texts() {
      let isUp = true;
      for (let i = 0, since = 0; kills < KILLS || !isUp || since < BETWEEN; i++, since++) {
        if (isUp && since >= BETWEEN && kills < KILLS) {
          [isUp, since] = [false, 0];
          starting = restart(kills++ % 2).then(() => {
            [isUp, since] = [true, 0];
          });
        }
        yield `film number ${i}`;
      }
    }

    const errors: Record<string, number> = {};
    let count = 0;
    const started = performance.now();
    const all = new SentimentClient(`http://127.0.0.1:${proxy.port}`).analyzeAll(texts(), {
      concurrency: 8,
      onRetry: ({ message }) => {
        errors[message] = (errors[message] ?? 0) + 1;
      },
    });
    for await (const one of all) {
      expect([one.index, one.ok && one.result.input_text]).toEqual([count, one.input]);
      expect(one.input).toBe(`film number ${count++}`);
    }
    await starting;
    const seconds = (performance.now() - started) / 1000;
    report(`killed replicas behind ${kind.name}`, { kills, count, seconds, errors });
    expect(count).toBeGreaterThanOrEqual((KILLS + 1) * BETWEEN);
    await proxy.stop();
    await Promise.all(replicas.map((replica) => replica.stop()));
  });
});

it('memory of a client that goes through a long source does not grow', async () => {
  const service = await startService('sentiment', { env: textModel('bert-single-label') });
  const script = path.join(__dirname, 'scripts', 'long-source.mjs');
  const args = ['--expose-gc', script, service.origin, String(MEMORY_ELEMENTS)];
  const { stdout } = await run(process.execPath, args);
  const heapMb = JSON.parse(stdout) as readonly number[];
  report('heap of a client after each tenth of its source, MB', { MEMORY_ELEMENTS, heapMb });
  expect(heapMb).toHaveLength(10);
  // Measured after a garbage collection, so it does not depend on when there was one.
  const [, first, ...later] = heapMb;
  expect(Math.max(...later) - (first as number)).toBeLessThan(2);
  await service.stop();
});
