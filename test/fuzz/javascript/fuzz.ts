import { parentPort, workerData } from 'node:worker_threads';
import { Draw } from '../draw';
import { Coverage } from './coverage';
import type { Target } from './target';

const LONGEST = 2048;

interface Task {
  readonly seed: number;
  readonly seconds: number;
  /** Base64. */
  readonly corpus: readonly string[];
  /** Where what runs is left for who watches: how many have run, its length, its bytes. */
  readonly current: SharedArrayBuffer;
}

/** Runs inputs, keeps those that run something new, and makes new ones of them. */
function fuzz(target: Target, { seed, seconds, corpus, current }: Task) {
  const draw = new Draw(seed);
  const coverage = new Coverage();
  const head = new Int32Array(current, 0, 2);
  const bytes = new Uint8Array(current, 8);
  const kept: Uint8Array[] = [];
  let slowestMs = 0;
  const run = (input: Uint8Array): void => {
    bytes.set(input);
    head[1] = input.length;
    Atomics.add(head, 0, 1);
    coverage.reset();
    const start = performance.now();
    target.run(input);
    slowestMs = Math.max(slowestMs, performance.now() - start);
    if (coverage.takeNew()) kept.push(input);
  };
  const finish = (found: string | null) => ({
    runs: Atomics.load(head, 0),
    coverage: `${coverage.covered}/${coverage.size}`,
    slowestMs,
    kept: kept.map((input) => Buffer.from(input).toString('base64')),
    found,
  });
  try {
    for (const input of target.seeds) run(input.slice(0, LONGEST));
    for (const input of corpus) run(Buffer.from(input, 'base64'));
    const until = performance.now() + seconds * 1000;
    while (performance.now() < until) run(mutate(draw, kept, target.dictionary));
    return finish(null);
  } catch (error) {
    return finish((error as Error).stack ?? String(error));
  }
}

function mutate(
  draw: Draw,
  kept: readonly Uint8Array[],
  dictionary: readonly string[],
): Uint8Array {
  let changed: Uint8Array = draw.pick(kept);
  for (let edits = draw.size(8); edits > 0; edits--) {
    const at = draw.below(changed.length + 1);
    const length = draw.size(changed.length / 2 + 2);
    const [before, after] = [changed.subarray(0, at), changed.subarray(at)];
    const other = draw.pick(kept);
    const from = draw.below(other.length + 1);
    changed = Buffer.concat(
      draw.weighted<() => readonly Uint8Array[]>([
        [4, () => [before, Buffer.from(draw.pick(dictionary), 'latin1'), after]],
        [3, () => [before, Buffer.from(draw.pick(dictionary), 'latin1'), after.subarray(length)]],
        [3, () => [before, after.subarray(length)]],
        [3, () => [before, Uint8Array.of(draw.below(256)), after.subarray(1)]],
        [
          1,
          () => [before, Uint8Array.of((after[0] ?? 0) ^ (1 << draw.below(8))), after.subarray(1)],
        ],
        [1, () => [before, after.subarray(0, length), after]],
        [2, () => [before, other.subarray(from, from + length), after]],
      ])(),
    );
  }
  return changed.slice(0, LONGEST);
}

/** In a worker of test/fuzz/scripts/coverage-guided.mjs. */
export function fuzzInWorker(target: Target): void {
  parentPort?.postMessage(fuzz(target, workerData as Task));
}
