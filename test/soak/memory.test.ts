import http from 'node:http';
import path from 'node:path';
import { postRaw } from '../helpers/http';
import {
  countSockets,
  type Figures,
  figuresOf,
  held,
  medianSlope,
} from '../helpers/process-figures';
import { killAll, NodeProcess, ROOT, type Service, startService } from '../helpers/service';
import { abreast } from '../helpers/times';
import { until } from '../helpers/until';
import { budgeted, report } from './budget';
import { makeRequests } from './requests';

const ROUNDS = path.join(__dirname, 'scripts', 'rounds.cjs');
const SHIPPED = {
  sentiment: {},
  eeg: { EEG_MODEL_PATH: path.join(ROOT, 'models', 'eeg', 'eeg_model.pt') },
} as const;

/** What may be gained for each 100,000 requests, MB. */
const MB_PER_100_000 = 5;
/** What V8's heap and malloc's move by themselves, MB; with few requests they are still growing. */
const NOISE_MB = budgeted({ ci: 300, standard: 30, long: 30 });
const SAMPLES = budgeted({ ci: 4, standard: 40, long: 100 });
const CONNECTIONS = 16;
const DISTINCT = 2000;

afterAll(killAll);

/** A service, and the sockets that it has without a client. */
interface Soaked {
  readonly service: Service;
  readonly pid: number;
  readonly idleSockets: number;
}

/**
 * Sends so many of the requests; every 50th client leaves before its answer. Resolves with what the
 * process holds when every connection is closed.
 */
async function ask(
  { service, pid, idleSockets }: Soaked,
  requests: ReturnType<typeof makeRequests>,
  count: number,
): Promise<Figures> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  await abreast(count, CONNECTIONS, async (index) => {
    const asked = requests[index % requests.length] as (typeof requests)[0];
    const { path: route, body, status } = asked;
    if (index % 50 === 49) {
      const signal = AbortSignal.timeout(1 + (index % 5));
      await postRaw(service, route, body, { agent, signal }).catch(() => undefined);
    } else {
      const answer = await postRaw(service, route, body, { agent });
      if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`);
    }
  });
  agent.destroy();
  await until('the end of all connections', () => countSockets(pid) <= idleSockets);
  return figuresOf(pid);
}

describe('a soak of mixed requests', () => {
  it.each([
    { name: 'sentiment', count: budgeted({ ci: 200, standard: 100_000, long: 1_000_000 }) },
    { name: 'eeg', count: budgeted({ ci: 600, standard: 100_000, long: 1_000_000 }) },
  ] as const)('leaves $name with the memory, threads and descriptors it had', async (soak) => {
    const { name, count } = soak;
    const service = await startService(name, { env: SHIPPED[name] });
    service.child.stdout?.removeAllListeners('data').resume(); // a million lines
    const pid = service.child.pid as number;
    const requests = makeRequests(name, DISTINCT, 1);
    const block = Math.ceil(count / SAMPLES);
    const soaked = { service, pid, idleSockets: countSockets(pid) };
    const before = await ask(soaked, requests, Math.ceil(count / 4));
    const memory: [number, number][] = [[0, before.anonymousMb]];
    let after = before;
    for (let done = block; done <= count; done += block) {
      after = await ask(soaked, requests, block);
      memory.push([done, after.anonymousMb]);
    }
    const slope = medianSlope(memory);
    report(`soak, ${name}`, {
      requests: count,
      mbPer100_000: Number((slope * 100_000).toFixed(2)),
      anonymousMb: memory.map(([, mb]) => Math.round(mb)).join(' '),
      before,
      after,
    });
    expect(slope * count).toBeLessThan((MB_PER_100_000 * count) / 100_000 + NOISE_MB);
    expect(held(after)).toEqual(held(before));
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });
});

describe('an engine that is loaded, used and closed again and again', () => {
  const COUNT = budgeted({ ci: 5, standard: 200, long: 1000 });
  /** The first rounds open what stays open: files, libraries, malloc's arenas. */
  const FIRST = 3;
  /** After which malloc's arenas have their size, as a share of the rounds. */
  const WARM_UP = 0.25;

  it.each([
    ['sentiment', 'main'],
    ['sentiment', 'worker'],
    ['eeg', 'main'],
    ['eeg', 'worker'],
  ])('(%s, %s thread) leaves the process as it was', async (name, where) => {
    const process_ = new NodeProcess({ script: ROUNDS, args: [name, where, String(COUNT)] });
    expect(await process_.exit).toEqual({ code: 0, signal: null });
    expect(process_.stderr).toBe('');
    const rounds = process_.logs as unknown as readonly Figures[];
    expect(rounds).toHaveLength(COUNT);
    const first = rounds[FIRST - 1] as Figures;
    for (const figures of rounds.slice(FIRST)) expect(held(figures)).toEqual(held(first));
    const measured = rounds.slice(Math.floor(COUNT * WARM_UP));
    const slope = medianSlope(measured.map(({ anonymousMb }, i) => [i, anonymousMb]));
    const shown = [0, FIRST - 1, Math.floor(COUNT * WARM_UP), COUNT - 1].map((i) => rounds[i]);
    report(`rounds, ${name}, ${where}`, {
      rounds: COUNT,
      mbPerRound: Number(slope.toFixed(4)),
      shown,
    });
    // An engine that stayed would be 25 MB of text model, or 0.7 MB of signal model, a round.
    expect(slope * COUNT).toBeLessThan(0.1 * COUNT + 100);
  });
});
