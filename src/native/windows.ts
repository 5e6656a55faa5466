import type { Inference, NativeInput, TokenInput, Tokenization } from './binding';
import { EngineError } from './engine-error';

/** So many windows of a text are in the queue at once: other requests take turns with them. */
const WINDOWS_PER_SUBMIT = 32;

/** Windows that the texts of one request may have together. */
const MAX_WINDOWS = 16_384;

/** Tokens of windows that may be held at once for one model: some 40 bytes each. */
const MAX_HELD_TOKENS = 2 ** 22;

/** The input with a limit of windows, where it is a text that is read in windows. */
export function withMaxWindows(input: NativeInput, mostWindows: number | undefined): NativeInput {
  if (mostWindows === undefined || typeof input === 'string' || !('stride' in input)) return input;
  return { ...input, mostWindows };
}

/** The windows of a text that was cut into several, of which none has run; null: it was run. */
export function unrunWindowsOf({ places }: Inference): Tokenization | null {
  return places && places.lengths.length > 1 ? places : null;
}

/** @throws EngineError LIST_TOO_LONG: the texts of a list have more windows than one request may have */
export function requireWindowLimit(inferences: readonly Inference[]): void {
  const count = inferences.reduce(
    (sum, one) => sum + (unrunWindowsOf(one)?.lengths.length ?? 0),
    0,
  );
  if (count <= MAX_WINDOWS) return;
  const message = `The texts have ${count} windows together, over the limit of ${MAX_WINDOWS}. Send fewer texts at once, or set a lower stride.`;
  throw new EngineError('LIST_TOO_LONG', message);
}

/** Memory of windows that wait until those before them have run: the queue has let in only their texts. */
export class WindowMemory {
  #tokens = 0;

  /** @throws EngineError QUEUE_FULL; the windows of one request always have room */
  async track<Done>(inferences: readonly Inference[], run: () => Promise<Done>): Promise<Done> {
    const tokens = inferences.reduce((sum, one) => sum + (unrunWindowsOf(one)?.ids.length ?? 0), 0);
    if (tokens > 0 && this.#tokens > 0 && this.#tokens + tokens > MAX_HELD_TOKENS) {
      throw new EngineError('QUEUE_FULL', 'The queue is full: other long texts are being read.');
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
 * Runs the windows of a text.
 *
 * @param run the model on some of them
 * @returns one answer, with the rows of all windows; times are sums
 */
export async function runWindows(
  cut: Inference,
  places: Tokenization,
  run: (inputs: readonly TokenInput[]) => Promise<readonly Inference[]>,
): Promise<Inference> {
  const inputs = windowsOf(places);
  const ran: Inference[] = [];
  for (let begin = 0; begin < inputs.length; begin += WINDOWS_PER_SUBMIT) {
    ran.push(...(await run(inputs.slice(begin, begin + WINDOWS_PER_SUBMIT))));
  }
  const sum = (of: (one: Inference) => number): number =>
    ran.reduce((all, one) => all + of(one), 0);
  const columns = (ran[0] as Inference).values.length / (ran[0] as Inference).rows;
  const values = new Float32Array(places.ids.length * columns);
  let rows = 0;
  for (const one of ran) {
    values.set(one.values, rows * columns);
    rows += one.rows;
  }
  return {
    ...cut,
    places,
    values,
    rows,
    tokens: sum(({ tokens }) => tokens),
    batchSize: Math.max(...ran.map(({ batchSize }) => batchSize)),
    batchTokens: sum(({ batchTokens }) => batchTokens),
    queueMs: cut.queueMs + sum(({ queueMs }) => queueMs),
    inferenceMs: sum(({ inferenceMs }) => inferenceMs),
  };
}

function windowsOf({ ids, types, lengths }: Tokenization): readonly TokenInput[] {
  let begin = 0;
  return Array.from(lengths, (length) => {
    const end = begin + length;
    const window = { ids: ids.subarray(begin, end), types: types.subarray(begin, end) };
    begin = end;
    return window;
  });
}
