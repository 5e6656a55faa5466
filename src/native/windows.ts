import type { Inference, TokenInput, TokenPlaces } from './binding';

/** So many windows of a text are in the queue at once: other requests take turns with them. */
const AT_ONCE = 32;

/**
 * The windows of a text that was cut into several, of which none has run; null: it was run.
 *
 * @param most of them, from the first on; left out: all
 */
export function unrunWindows({ places }: Inference, most?: number): TokenPlaces | null {
  if (!places || places.lengths.length < 2) return null;
  if (most === undefined || places.lengths.length <= most) return places;
  const lengths = places.lengths.slice(0, most);
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  return {
    ids: places.ids.slice(0, tokens),
    types: places.types.slice(0, tokens),
    offsets: places.offsets.slice(0, 2 * tokens),
    texts: places.texts.slice(0, tokens),
    lengths,
  };
}

/**
 * Runs the windows of a text.
 *
 * @param run the model on some of them
 * @returns one answer, with the rows of all windows; times are sums
 */
export async function runWindows(
  cut: Inference,
  places: TokenPlaces,
  run: (inputs: readonly TokenInput[]) => Promise<readonly Inference[]>,
): Promise<Inference> {
  const inputs = windowsOf(places);
  const ran: Inference[] = [];
  for (let begin = 0; begin < inputs.length; begin += AT_ONCE) {
    ran.push(...(await run(inputs.slice(begin, begin + AT_ONCE))));
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
    truncated: cut.truncated || places.lengths.length < (cut.places?.lengths.length ?? 0),
    values,
    rows,
    tokens: sum(({ tokens }) => tokens),
    batchSize: Math.max(...ran.map(({ batchSize }) => batchSize)),
    batchTokens: sum(({ batchTokens }) => batchTokens),
    queueMs: cut.queueMs + sum(({ queueMs }) => queueMs),
    inferenceMs: sum(({ inferenceMs }) => inferenceMs),
  };
}

function windowsOf({ ids, types, lengths }: TokenPlaces): readonly TokenInput[] {
  let begin = 0;
  return Array.from(lengths, (length) => {
    const end = begin + length;
    const window = { ids: ids.subarray(begin, end), types: types.subarray(begin, end) };
    begin = end;
    return window;
  });
}
