import {
  type Block,
  concatenate,
  emptyBlock,
  lengthOf,
  type SignalFormat,
  type SignalStep,
} from './block';

export interface ExponentialSettings {
  /** Weight of a new sample, in (0, 1]. */
  readonly factorNew: number;
  /** Number of first samples that are standardized by their own mean and deviation; null: none. */
  readonly initBlockSize: number | null;
  /** Minimum standard deviation. */
  readonly epsilon: number;
}

/** Weighted mean with the weights (1 − α)ⁱ, like `pandas.DataFrame.ewm(alpha=…).mean()`. */
class ExponentialMean {
  #weight = 0;
  #mean = 0;

  add(value: number, alpha: number): number {
    const old = this.#weight * (1 - alpha);
    this.#weight = old + 1;
    this.#mean = (old * this.#mean + value) / this.#weight;
    return this.#mean;
  }
}

/** Exponential moving standardization, like `exponential_moving_standardize` of braindecode. */
export class ExponentialStandardization implements SignalStep {
  readonly output: SignalFormat;
  readonly state: number;
  readonly #settings: ExponentialSettings;
  #averages: { readonly mean: ExponentialMean; readonly square: ExponentialMean }[] = [];
  /** Samples of an incomplete first block; null: it is complete. */
  #initial: Block[] | null;

  constructor(input: SignalFormat, settings: ExponentialSettings) {
    this.output = input;
    this.state = 4 + (settings.initBlockSize ?? 0);
    this.#settings = settings;
    this.#initial = settings.initBlockSize === null ? null : [];
  }

  push(block: Block): Block {
    if (this.#initial === null) return this.#standardize(block);
    this.#initial.push(block);
    const length = this.#initial.reduce((sum, one) => sum + lengthOf(one), 0);
    if (length < (this.#settings.initBlockSize as number)) {
      return emptyBlock(this.output.channels.length);
    }
    return this.#finishInitial();
  }

  end(): Block {
    const rest =
      this.#initial === null ? emptyBlock(this.output.channels.length) : this.#finishInitial();
    this.#initial = this.#settings.initBlockSize === null ? null : [];
    this.#averages = [];
    return rest;
  }

  #finishInitial(): Block {
    const block = concatenate(this.#initial ?? [], this.output.channels.length);
    this.#initial = null;
    const size = Math.min(this.#settings.initBlockSize as number, lengthOf(block));
    const initial = block.map((samples) => this.#standardizeAtOnce(samples.slice(0, size)));
    const result = this.#standardize(block);
    for (const [channel, samples] of result.entries())
      samples.set(initial[channel] as Float64Array);
    return result;
  }

  #standardizeAtOnce(samples: Float64Array): Float64Array {
    const mean = samples.reduce((sum, value) => sum + value, 0) / samples.length;
    const variance = samples.reduce((sum, value) => sum + (value - mean) ** 2, 0) / samples.length;
    const divisor = Math.max(this.#settings.epsilon, Math.sqrt(variance));
    return samples.map((value) => (value - mean) / divisor);
  }

  #standardize(block: Block): Block {
    const { factorNew, epsilon } = this.#settings;
    for (const [channel, samples] of block.entries()) {
      this.#averages[channel] ??= { mean: new ExponentialMean(), square: new ExponentialMean() };
      const { mean, square } = this.#averages[channel];
      for (let i = 0; i < samples.length; i++) {
        const value = samples[i] as number;
        const difference = value - mean.add(value, factorNew);
        const variance = square.add(difference * difference, factorNew);
        samples[i] = difference / Math.max(epsilon, Math.sqrt(variance));
      }
    }
    return block;
  }
}
