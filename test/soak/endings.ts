import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, post, request, untilStatus } from '../helpers/http';
import { seededRandom } from '../helpers/random';
import type { Exit, NodeProcess } from '../helpers/service';
import { SIGNAL } from '../helpers/services';
import { until } from '../helpers/until';
import { report } from './budget';

export type ServiceName = 'sentiment' | 'eeg';

export const PHASES = ['start', 'idle', 'inference', 'shutdown'] as const;
export type Phase = (typeof PHASES)[number];

export const ended = (code: number): Exit => ({ code, signal: null });
export const killedBy = (signal: NodeJS.Signals): Exit => ({ code: null, signal });

/** What differs between the runs of a cell. */
export interface Run {
  readonly service: ServiceName;
  /** Uniform in [0, most), ms. */
  delay(most: number): number;
}

/**
 * A process that has not ended by then hangs, and gets SIGKILL. Nothing that it does takes seconds, but
 * where memory is short, and programs are read from disk again and again, minutes may pass.
 */
const HANGS_AFTER_MS = 300_000;
/** Runs at a time, of all cells. */
const ABREAST = 2;
let running = 0;
const waiting: (() => void)[] = [];

/** When it is its turn. */
async function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
  if (running >= ABREAST) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

export interface Cell {
  readonly what: string;
  readonly count: number;
  /** Each run ends in one of these. */
  readonly expected: readonly Exit[];
}

/** Reports how often each ending came; the message of a failure has what repeats it. */
export async function repeat(
  { what, count, expected }: Cell,
  run: (one: Run) => Promise<Exit>,
): Promise<void> {
  const seed = [...what].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7);
  const seen: Record<string, number> = {};
  let hasFailed = false;
  const one = async (index: number): Promise<void> => {
    if (hasFailed) return;
    const delays: number[] = [];
    const random = seededRandom(seed + index);
    const service = index % 2 === 0 ? 'sentiment' : 'eeg';
    const delay = (most: number): number => {
      delays.push(random() * most);
      return delays.at(-1) as number;
    };
    try {
      const exit = await run({ service, delay });
      expect(expected).toContainEqual(exit);
      const name = String(exit.code ?? exit.signal);
      seen[name] = (seen[name] ?? 0) + 1;
    } catch (error) {
      hasFailed = true;
      const place = `${what}, run ${index} (${service}), after ${delays.join(' and ')} ms`;
      throw new Error(`${place}: ${(error as Error).message}`, { cause: error });
    }
  };
  await Promise.all(Array.from({ length: count }, (_, index) => inTurn(() => one(index))));
  report(what, seen);
}

/** How it ended; one that does not end is killed. */
export async function endOf(process_: NodeProcess): Promise<Exit> {
  const timer = setTimeout(() => process_.kill('SIGKILL'), HANGS_AFTER_MS);
  try {
    return await process_.exit;
  } finally {
    clearTimeout(timer);
  }
}

export async function untilHealthy(service: Address): Promise<void> {
  await until(`health on port ${service.port}`, () =>
    request(service, { path: '/health' }).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
}

const LISTS = {
  sentiment: { path: '/analyze/batch', body: { texts: Array(200).fill('good film '.repeat(15)) } },
  eeg: { path: '/predict/batch', body: { signals: Array(100).fill(SIGNAL) } },
};

/** Lists without end, on some connections, until the service is gone; resolves with the first answer. */
export async function keepBusy(service: Address, name: ServiceName): Promise<void> {
  const { path, body } = LISTS[name];
  const lane = async (): Promise<void> => {
    for (;;) {
      const { status } = await post(service, path, body);
      if (status !== 200) await sleep(1);
    }
  };
  for (let i = 0; i < 4; i++) lane().catch(() => undefined);
  // On a machine that is busy elsewhere, so many may be refused.
  await untilStatus(200, () => post(service, path, body));
}
