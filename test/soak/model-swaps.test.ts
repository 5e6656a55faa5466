/** Versions that come and go under full load: no request is lost, and nothing of them stays. */
import { renameSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { post, request } from '../helpers/http';
import { FIRST, ModelsDirectory, SECOND } from '../helpers/models-directory';
import { figuresOf } from '../helpers/process-figures';
import { killAll, type Service } from '../helpers/service';
import { until } from '../helpers/until';
import { budgeted, report } from './budget';

const SWAPS = budgeted({ ci: 20, standard: 200, long: 1000 });
/** Before memory is looked at: V8 makes room for the garbage of swaps and requests, once. */
const SWAPS_BEFORE = budgeted({ ci: 50, standard: 200, long: 200 });
/** Of each model, in a closed loop. */
const CLIENTS = 8;
const TEXT = { text: 'A warm, funny film.' };
const MEMORY_MB = 20;

const directory = new ModelsDirectory();

afterAll(async () => {
  await killAll();
  directory.folder.remove();
});

/** Asks until it is told to stop; how often each answer came, and how long answers took in ms. */
class Load {
  readonly answers = new Map<string, number>();
  readonly durations: number[] = [];
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS });
  readonly #clients: readonly Promise<void>[];
  #isOver = false;

  constructor(service: Service, path: string) {
    this.#clients = Array.from({ length: CLIENTS }, async () => {
      while (!this.#isOver) {
        const startedAt = performance.now();
        const { status, text } = await post(service, path, TEXT, { agent: this.#agent });
        this.durations.push(performance.now() - startedAt);
        const answer = `${status} ${text}`;
        this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
      }
    });
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    this.#agent.destroy();
  }

  /** Of what was answered since it was asked for last. */
  takeP99(): number {
    const sorted = this.durations.splice(0).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length * 0.99)] as number;
  }
}

/** Two folders change places: to copy one would take time from the clients of this process. */
async function swap(service: Service, turn: number): Promise<void> {
  const place = (name: string): string => path.join(directory.path, name);
  renameSync(place('films'), place('.before'));
  renameSync(place('.next'), place('films'));
  renameSync(place('.before'), place('.next'));
  const loaded = await request(service, {
    method: 'POST',
    path: '/v2/repository/models/films/load',
  });
  expect([turn, loaded.status, loaded.text]).toEqual([turn, 200, '{}']);
}

it(`loses nothing in ${SWAPS} swaps of one of two models`, async () => {
  directory.text('films', FIRST);
  directory.text('.next', SECOND);
  directory.text('other', SECOND);
  const service = await directory.start();
  const one = (await post(service, '/models/films/analyze', TEXT)).text;
  const two = (await post(service, '/models/other/analyze', TEXT)).text;
  const pid = service.child.pid as number;
  const alone = new Load(service, '/models/other/analyze');
  const films = new Load(service, '/models/films/analyze');
  for (let turn = 1; turn <= SWAPS_BEFORE; turn++) await swap(service, turn);
  const before = figuresOf(pid);
  alone.takeP99();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const p99UndisturbedMs = alone.takeP99();
  for (let turn = 1; turn <= SWAPS; turn++) await swap(service, SWAPS_BEFORE + turn);
  const p99OfOtherMs = alone.takeP99();
  // The thread that has loaded the last one may still be ending.
  const isHeld = () => {
    const now = figuresOf(pid);
    return now.threads <= before.threads && now.descriptors <= before.descriptors;
  };
  await until('no thread or descriptor more', isHeld, { limitMs: 10_000 });
  const after = figuresOf(pid);
  await Promise.all([alone.end(), films.end()]);
  expect([...films.answers.keys()].sort()).toEqual([`200 ${one}`, `200 ${two}`].sort());
  expect([...alone.answers.keys()]).toEqual([`200 ${two}`]);
  report('swaps', {
    swaps: SWAPS,
    answers: films.durations.length,
    p99OfOtherMs,
    p99UndisturbedMs,
    addedMb: after.anonymousMb - before.anonymousMb,
  });
  // What is logged and not read yet, and garbage that is not collected yet, goes soon.
  const added = () => figuresOf(pid).anonymousMb - before.anonymousMb;
  await until(`less than ${MEMORY_MB} MB more`, () => added() < MEMORY_MB, { limitMs: 60_000 });
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});
