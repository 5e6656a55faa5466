import { TimeSlice } from '../../lib/time-slice';
import type { BioesClass, BioesLabels } from './bioes-labels';

/** Numbers that are added to the log-probability of a path for each of its transitions. */
export interface TransitionBiases {
  /** O → O */
  readonly backgroundStay: number;
  /** O → B, S */
  readonly backgroundToStart: number;
  /** B, I → I */
  readonly insideToContinue: number;
  /** B, I → E */
  readonly insideToEnd: number;
  /** E, S → O */
  readonly endToBackground: number;
  /** E, S → B, S */
  readonly endToStart: number;
}

/** Labels and biases of a model whose entities are found by Viterbi decoding. */
export interface ViterbiDecoder extends BioesLabels {
  readonly biases: TransitionBiases;
}

/** Entity of consecutive tokens of a path. */
export interface DecodedEntity {
  readonly name: string;
  /** First token, and the token after the last. */
  readonly begin: number;
  readonly end: number;
}

/** Logits of consecutive tokens: the logits of token i start at `rows[i]`. */
export interface TokenLogits {
  readonly logits: Float32Array;
  readonly rows: readonly number[];
}

/** Number of tokens that are computed before the time slice is checked. */
const TOKENS_PER_CHECK = 256;

/**
 * Finds the most probable path of labels that is a valid BIOES sequence, and returns its label for
 * each token. A path starts with O, B or S and ends with O, E or S. B and I are followed by I or E
 * of their class; O, E and S by O, B or S.
 *
 * The path has the highest sum of log-probabilities and transition biases. Logits replace
 * log-probabilities: they differ by the same number for all labels of a token. Yields to the event
 * loop between time slices.
 *
 * Source: viterbi_calibration.json and the package opf of openai/privacy-filter.
 */
export async function decodePath(
  tokens: TokenLogits,
  decoder: ViterbiDecoder,
): Promise<readonly number[]> {
  const count = tokens.rows.length;
  if (count === 0) return [];
  const trellis = new Trellis(tokens, decoder);
  const turns = new TimeSlice();
  for (let token = 1; token < count; token++) {
    trellis.advance(token);
    if (token % TOKENS_PER_CHECK === 0 && turns.isExpired) await turns.yieldToEventLoop();
  }
  return trellis.bestPath();
}

/** Returns the entities of a valid path. */
export function entitiesOf(
  path: readonly number[],
  { classes }: BioesLabels,
): readonly DecodedEntity[] {
  const starts = new Map(classes.flatMap((one) => [one.begin, one.single].map((at) => [at, one])));
  const ends = new Set(classes.flatMap(({ end, single }) => [end, single]));
  const entities: DecodedEntity[] = [];
  let begin = 0;
  let open: BioesClass | undefined;
  for (const [token, label] of path.entries()) {
    const started = starts.get(label);
    if (started) [open, begin] = [started, token];
    if (open && ends.has(label)) entities.push({ name: open.name, begin, end: token + 1 });
  }
  return entities;
}

/**
 * The best paths up to a token. States with the same successors share their best predecessor, so
 * that a token costs time in proportion to the number of labels.
 */
class Trellis {
  readonly #tokens: TokenLogits;
  readonly #decoder: ViterbiDecoder;
  /** Sum of the best path to each label at the current token. */
  #sums: Float64Array;
  #next: Float64Array;
  /** For each token, the previous label of O. */
  readonly #beforeOutside: Int32Array;
  /** For each token, the previous label of B and S. */
  readonly #beforeStart: Int32Array;
  /** For each token and class, 1 if the previous label of I and E is I, 0 if it is B. */
  readonly #continues: Uint8Array;

  constructor(tokens: TokenLogits, decoder: ViterbiDecoder) {
    const { outside, classes } = decoder;
    const labels = 1 + 4 * classes.length;
    const count = tokens.rows.length;
    this.#tokens = tokens;
    this.#decoder = decoder;
    this.#sums = new Float64Array(labels).fill(Number.NEGATIVE_INFINITY);
    this.#next = new Float64Array(labels);
    this.#beforeOutside = new Int32Array(count);
    this.#beforeStart = new Int32Array(count);
    this.#continues = new Uint8Array(count * classes.length);
    for (const label of [outside, ...classes.flatMap(({ begin, single }) => [begin, single])]) {
      this.#sums[label] = this.#logit(0, label);
    }
  }

  #logit(token: number, label: number): number {
    return this.#tokens.logits[(this.#tokens.rows[token] as number) + label] as number;
  }

  #sum(label: number): number {
    return this.#sums[label] as number;
  }

  /** Extends the paths by a token. */
  advance(token: number): void {
    const { outside, classes, biases } = this.#decoder;
    const finished = this.#bestEnd();
    const select = (stay: number, leave: number) => {
      const fromOutside = this.#sum(outside) + stay;
      const fromEnd = finished === null ? Number.NEGATIVE_INFINITY : this.#sum(finished) + leave;
      return fromEnd > fromOutside
        ? { before: finished as number, sum: fromEnd }
        : { before: outside, sum: fromOutside };
    };
    const toOutside = select(biases.backgroundStay, biases.endToBackground);
    const toStart = select(biases.backgroundToStart, biases.endToStart);
    this.#beforeOutside[token] = toOutside.before;
    this.#beforeStart[token] = toStart.before;
    this.#next[outside] = toOutside.sum + this.#logit(token, outside);
    for (const [index, { begin, inside, end, single }] of classes.entries()) {
      const continues = this.#sum(inside) > this.#sum(begin);
      this.#continues[token * classes.length + index] = continues ? 1 : 0;
      const open = this.#sum(continues ? inside : begin);
      this.#next[begin] = toStart.sum + this.#logit(token, begin);
      this.#next[single] = toStart.sum + this.#logit(token, single);
      this.#next[inside] = open + biases.insideToContinue + this.#logit(token, inside);
      this.#next[end] = open + biases.insideToEnd + this.#logit(token, end);
    }
    [this.#sums, this.#next] = [this.#next, this.#sums];
  }

  /** E or S with the best path; null if there are no classes. */
  #bestEnd(): number | null {
    let best: number | null = null;
    for (const { end, single } of this.#decoder.classes) {
      for (const label of [end, single]) {
        if (best === null || this.#sum(label) > this.#sum(best)) best = label;
      }
    }
    return best;
  }

  bestPath(): readonly number[] {
    const { outside, classes } = this.#decoder;
    const classOf = new Map(
      classes.flatMap(({ inside, end }, index) => [inside, end].map((label) => [label, index])),
    );
    const finished = this.#bestEnd();
    const isEnd = finished !== null && this.#sum(finished) > this.#sum(outside);
    let label = isEnd ? finished : outside;
    const path: number[] = [label];
    for (let token = this.#tokens.rows.length - 1; token > 0; token--) {
      const open = classOf.get(label);
      if (open !== undefined) {
        const continues = this.#continues[token * classes.length + open] === 1;
        const { begin, inside } = classes[open] as BioesClass;
        label = continues ? inside : begin;
      } else {
        label = (label === outside ? this.#beforeOutside : this.#beforeStart)[token] as number;
      }
      path.push(label);
    }
    return path.reverse();
  }
}
