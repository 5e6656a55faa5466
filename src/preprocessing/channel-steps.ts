import { type Block, emptyBlock, lengthOf, type SignalFormat, type SignalStep } from './block';

/** A step that computes each sample from the samples of all channels at the same time. */
abstract class InstantStep implements SignalStep {
  abstract readonly output: SignalFormat;
  readonly state = 0;

  abstract push(block: Block): Block;

  end(): Block {
    return emptyBlock(this.output.channels.length);
  }
}

/** Selects and orders channels. */
export class ChannelSelection extends InstantStep {
  readonly output: SignalFormat;
  readonly #indices: readonly number[];

  /** @param channels names that `input` contains */
  constructor(input: SignalFormat, channels: readonly string[]) {
    super();
    this.output = { ...input, channels };
    this.#indices = channels.map((name) => input.channels.indexOf(name));
  }

  push(block: Block): Block {
    return this.#indices.map((index) => block[index] as Float64Array);
  }
}

/** Subtracts the mean of reference channels from all channels. */
export class Rereference extends InstantStep {
  readonly output: SignalFormat;
  readonly #references: readonly number[];

  /** @param references names that `input` contains; null: the average of all channels */
  constructor(input: SignalFormat, references: readonly string[] | null) {
    super();
    this.output = input;
    this.#references = (references ?? input.channels).map((name) => input.channels.indexOf(name));
  }

  push(block: Block): Block {
    const mean = new Float64Array(lengthOf(block));
    for (const reference of this.#references) addScaled(mean, block[reference] as Float64Array, 1);
    for (let i = 0; i < mean.length; i++) mean[i] = (mean[i] as number) / this.#references.length;
    for (const samples of block) addScaled(samples, mean, -1);
    return block;
  }
}

/** Multiplies all samples. */
export class Scale extends InstantStep {
  readonly output: SignalFormat;
  readonly #factor: number;

  constructor(input: SignalFormat, factor: number) {
    super();
    this.output = input;
    this.#factor = factor;
  }

  push(block: Block): Block {
    for (const samples of block) {
      for (let i = 0; i < samples.length; i++) samples[i] = (samples[i] as number) * this.#factor;
    }
    return block;
  }
}

/** Limits all samples to a range. */
export class Clip extends InstantStep {
  readonly output: SignalFormat;
  readonly #min: number;
  readonly #max: number;

  constructor(input: SignalFormat, min: number | null, max: number | null) {
    super();
    this.output = input;
    this.#min = min ?? Number.NEGATIVE_INFINITY;
    this.#max = max ?? Number.POSITIVE_INFINITY;
  }

  push(block: Block): Block {
    for (const samples of block) {
      for (let i = 0; i < samples.length; i++) {
        samples[i] = Math.min(Math.max(samples[i] as number, this.#min), this.#max);
      }
    }
    return block;
  }
}

/** Computes channels as weighted sums of others, for channels that a signal lacks. */
export class ChannelMixture extends InstantStep {
  readonly output: SignalFormat;
  readonly #rows: readonly ChannelRow[];

  /** @param rows the channels of `output`, in order */
  constructor(output: SignalFormat, rows: readonly ChannelRow[]) {
    super();
    this.output = output;
    this.#rows = rows;
  }

  push(block: Block): Block {
    return this.#rows.map((row) => {
      if (typeof row === 'number') return block[row] as Float64Array;
      const sum = new Float64Array(lengthOf(block));
      for (const [index, weight] of row) addScaled(sum, block[index] as Float64Array, weight);
      return sum;
    });
  }
}

/** Index of a channel, or the weights of several channels by their index. */
export type ChannelRow = number | readonly (readonly [index: number, weight: number])[];

function addScaled(sum: Float64Array, samples: Float64Array, factor: number): void {
  for (let i = 0; i < sum.length; i++) {
    sum[i] = (sum[i] as number) + factor * (samples[i] as number);
  }
}
