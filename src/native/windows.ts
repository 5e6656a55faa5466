import type { Inference, TokenInput, Tokenization } from './binding';
import { EngineError } from './engine-error';

/** Windows of a text that are queued at a time. Other requests run between these groups. */
const WINDOWS_PER_SUBMIT = 32;

/** Maximum number of windows of all texts of a request. */
const MAX_WINDOWS = 16_384;

/** Maximum number of tokens in unrun windows of a model, about 40 bytes each. */
const MAX_HELD_TOKENS = 2 ** 22;

/** Windows of a text that was split but not run; null: the model ran on the whole text. */
export function unrunWindowsOf({ places }: Inference): Tokenization | null {
  return places && places.lengths.length > 1 ? places : null;
}

/** @throws EngineError LIST_TOO_LONG: the texts of the request have more than MAX_WINDOWS windows */
export function requireWindowLimit(inferences: readonly Inference[]): void {
  const count = inferences.reduce(
    (sum, inference) => sum + (unrunWindowsOf(inference)?.lengths.length ?? 0),
    0,
  );
  if (count <= MAX_WINDOWS) return;
  const message = `The texts have ${count} windows in total, over the limit of ${MAX_WINDOWS}. Send fewer texts at once, or set a lower stride.`;
  throw new EngineError('LIST_TOO_LONG', message);
}

/** Limit on the memory of windows that have not run. The queue capacity only counts their texts. */
export class WindowMemory {
  #tokens = 0;

  /**
   * Reserves the tokens of all windows until `run` settles. The windows of a single request are always accepted.
   *
   * @throws EngineError QUEUE_FULL
   */
  async track<Done>(inferences: readonly Inference[], run: () => Promise<Done>): Promise<Done> {
    const tokens = inferences.reduce(
      (sum, inference) => sum + (unrunWindowsOf(inference)?.ids.length ?? 0),
      0,
    );
    if (tokens > 0 && this.#tokens > 0 && this.#tokens + tokens > MAX_HELD_TOKENS) {
      throw new EngineError(
        'QUEUE_FULL',
        'The queue is full: other long texts are being tokenized.',
      );
    }
    this.#tokens += tokens;
    try {
      return await run();
    } finally {
      this.#tokens -= tokens;
    }
  }
}

/**
 * Runs the model on all windows of a text.
 *
 * @param tokenized result of submitting the text, which only has its windows
 * @param run runs the model on a group of windows
 * @returns an inference with the rows of all windows; durations and token counts are sums
 */
export async function runWindows(
  tokenized: Inference,
  windows: Tokenization,
  run: (inputs: readonly TokenInput[]) => Promise<readonly Inference[]>,
): Promise<Inference> {
  const inputs = splitWindows(windows);
  const results: Inference[] = [];
  for (let begin = 0; begin < inputs.length; begin += WINDOWS_PER_SUBMIT) {
    results.push(...(await run(inputs.slice(begin, begin + WINDOWS_PER_SUBMIT))));
  }
  const sum = (count: (result: Inference) => number): number =>
    results.reduce((total, result) => total + count(result), 0);
  const columns = (results[0] as Inference).values.length / (results[0] as Inference).rows;
  const values = new Float32Array(windows.ids.length * columns);
  let rows = 0;
  for (const result of results) {
    values.set(result.values, rows * columns);
    rows += result.rows;
  }
  return {
    ...tokenized,
    places: windows,
    values,
    rows,
    tokens: sum(({ tokens }) => tokens),
    batchSize: Math.max(...results.map(({ batchSize }) => batchSize)),
    batchTokens: sum(({ batchTokens }) => batchTokens),
    queueMs: tokenized.queueMs + sum(({ queueMs }) => queueMs),
    inferenceMs: sum(({ inferenceMs }) => inferenceMs),
  };
}

function splitWindows({ ids, types, lengths }: Tokenization): readonly TokenInput[] {
  let begin = 0;
  return Array.from(lengths, (length) => {
    const end = begin + length;
    const window = { ids: ids.subarray(begin, end), types: types.subarray(begin, end) };
    begin = end;
    return window;
  });
}
