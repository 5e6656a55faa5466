import {
  type Block,
  concatenate,
  PreprocessingError,
  type SignalFormat,
  type SignalStep,
} from './block';
import { butterworth, notch, type Section } from './butterworth';
import { ChannelSelection, Clip, Rereference, Scale } from './channel-steps';
import { ExponentialStandardization } from './exponential-standardization';
import { MAX_FACTOR, PolyphaseResampler, resamplingFactors } from './polyphase-resampler';
import type { StepSettings } from './schema';
import { CausalFilter, ZeroPhaseFilter } from './section-filter';

/** A step that does not fit the signal that it receives. */
export class StepError extends PreprocessingError {
  /** Keys below the step, such as `channels[2]`. */
  readonly key: string;
  /** Index of the step. */
  readonly step: number;

  constructor(step: number, key: string, message: string) {
    super(message);
    this.step = step;
    this.key = key;
  }
}

/**
 * Steps in their order, applied to a signal that arrives in blocks. The blocks together are the same as those of the
 * whole signal at once, bit for bit.
 */
export class Pipeline {
  readonly input: SignalFormat;
  readonly output: SignalFormat;
  readonly #steps: readonly SignalStep[];

  constructor(input: SignalFormat, steps: readonly SignalStep[]) {
    this.input = input;
    this.output = steps.at(-1)?.output ?? input;
    this.#steps = steps;
  }

  /** Number of values that the steps keep, at most; null: they keep the whole signal. */
  get state(): number | null {
    let all = 0;
    for (const { state, output } of this.#steps) {
      if (state === null) return null;
      all += state * output.channels.length;
    }
    return all;
  }

  /** Look-ahead of the resampling, in samples of the input. */
  get delaySamples(): number {
    const rate = this.input.samplingRateHz;
    return this.#steps.reduce((sum, { delaySeconds = 0 }) => sum + delaySeconds * rate, 0);
  }

  /** @returns the samples that are known so far. Can change `block` in place. @throws PreprocessingError */
  push(block: Block): Block {
    return this.#run(block, 0);
  }

  /** Processes a whole signal. Can change `block` in place. @throws PreprocessingError */
  process(block: Block): Block {
    return concatenate([this.push(block), this.end()], this.output.channels.length);
  }

  /** Ends the signal; the next block begins another one. @returns the remaining samples @throws PreprocessingError */
  end(): Block {
    const { length } = this.output.channels;
    const rest = this.#steps.map((step, index) => this.#run(step.end(), index + 1));
    return concatenate(rest, length);
  }

  #run(block: Block, from: number): Block {
    let result = block;
    for (const step of this.#steps.slice(from)) result = step.push(result);
    return result;
  }
}

/**
 * Creates the steps for a signal.
 *
 * @throws StepError: a step does not fit its input
 */
export function createSteps(
  settings: readonly StepSettings[],
  input: SignalFormat,
): readonly SignalStep[] {
  const steps: SignalStep[] = [];
  let format = input;
  for (const [index, step] of settings.entries()) {
    const created = createStep(step, format, (key, message) => new StepError(index, key, message));
    if (created === null) continue;
    steps.push(created);
    format = created.output;
  }
  return steps;
}

type Fail = (key: string, message: string) => StepError;

/** @returns null: the step changes nothing */
function createStep(step: StepSettings, input: SignalFormat, fail: Fail): SignalStep | null {
  switch (step.type) {
    case 'pick':
      requireChannels(step.channels, input, fail);
      return new ChannelSelection(input, step.channels);
    case 'reference':
      requireChannels(step.channels ?? [], input, fail);
      return new Rereference(input, step.channels);
    case 'filter': {
      const { high_pass_hz: highPassHz, low_pass_hz: lowPassHz, order } = step;
      requireBelowNyquist(highPassHz, 'high_pass_hz', input, fail);
      requireBelowNyquist(lowPassHz, 'low_pass_hz', input, fail);
      const sections = butterworth(order, { highPassHz, lowPassHz }, input.samplingRateHz);
      requireStable(sections, input, fail);
      return filterOf(step, sections, input);
    }
    case 'notch': {
      const sections = [step.frequency_hz].flat().flatMap((frequencyHz) => {
        requireBelowNyquist(frequencyHz, 'frequency_hz', input, fail);
        return notch(frequencyHz, step.quality, input.samplingRateHz);
      });
      return filterOf(step, sections, input);
    }
    case 'resample':
      return resamplerOf(step.sampling_rate_hz, input, fail);
    case 'scale':
      return new Scale(input, step.factor);
    case 'clip':
      return new Clip(input, step.min, step.max);
    case 'exponential_moving_standardize':
      return new ExponentialStandardization(input, {
        factorNew: step.factor_new,
        initBlockSize: step.init_block_size,
        epsilon: step.eps,
      });
    case 'standardize':
      throw fail('type', 'is a step of windows: only scale and clip can follow it');
  }
}

function filterOf(
  { phase, initial }: Extract<StepSettings, { readonly phase: unknown }>,
  sections: readonly Section[],
  input: SignalFormat,
): SignalStep {
  return phase === 'zero'
    ? new ZeroPhaseFilter(input, sections)
    : new CausalFilter(input, sections, initial);
}

function resamplerOf(rate: number, input: SignalFormat, fail: Fail): SignalStep | null {
  const { up, down } = resamplingFactors(input.samplingRateHz, rate);
  if (up === down) return null;
  if (Math.max(up, down) > MAX_FACTOR) {
    const message = `cannot resample from ${input.samplingRateHz} to ${rate} Hz: their ratio is ${up}/${down}, at most ${MAX_FACTOR} is supported. Use a rounder rate`;
    throw fail('sampling_rate_hz', message);
  }
  return new PolyphaseResampler(input, rate);
}

function requireChannels(names: readonly string[], { channels }: SignalFormat, fail: Fail): void {
  const missing = names.findIndex((name) => !channels.includes(name));
  if (missing < 0) return;
  const message = `there is no channel “${names[missing]}” at this step, only ${channels.join(', ')}`;
  throw fail(`channels[${missing}]`, message);
}

function requireBelowNyquist(
  frequency: number | null,
  key: string,
  { samplingRateHz }: SignalFormat,
  fail: Fail,
): void {
  if (frequency === null || frequency < samplingRateHz / 2) return;
  const message = `expected a frequency below half the sampling rate of ${samplingRateHz} Hz, found ${frequency}`;
  throw fail(key, message);
}

/** Rounding makes filters of a high order with a limit near 0 Hz unstable. */
function requireStable(sections: readonly Section[], input: SignalFormat, fail: Fail): void {
  const isStable = sections.every(
    ({ a: [a1, a2] }) => Math.abs(a2) < 1 && Math.abs(a1) < 1 + a2 && 1 + a1 + a2 > 1e-13,
  );
  if (isStable) return;
  const message = `is unstable at a sampling rate of ${input.samplingRateHz} Hz: use a lower order, or a wider band`;
  throw fail('order', message);
}
