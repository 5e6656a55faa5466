import { type Block, PreprocessingError } from '../preprocessing/block';
import type { Pipeline } from '../preprocessing/pipeline';
import { type ChannelPlan, planChannels } from '../tasks/signal-classification/channel-plan';
import type { ModelSettings } from '../tasks/signal-classification/model-settings';
import type { SignalQualityAnalyzer } from '../tasks/signal-classification/signal-quality';
import { ChannelWindow, toRows } from '../tasks/signal-classification/window-preparation';
import { FrameBuffer } from './frame-buffer';
import { SlidingWindows, type Windowing, windowingOf } from './sliding-windows';
import type { StreamWindows, WindowOptions, WindowQuality } from './stream-windows';

/** Maximum number of values that one call of `take` processes: about a millisecond. */
const MAX_VALUES = 8192;

/** The plan of a stream. @throws PreprocessingError: streams do not support the model, or a channel is missing */
export function planStream(options: WindowOptions, settings: ModelSettings): ChannelPlan {
  const names = options.channels ?? settings.channels?.inputs ?? [];
  const plan = planChannels(settings, names, options.sampling_rate_hz);
  if (plan.state !== null) return plan;
  throw new PreprocessingError(
    'the preprocess of the model has a filter with the phase zero, which needs the whole signal: streams need "phase": "causal"',
  );
}

/**
 * Windows of a signal of several channels, after the steps over the signal. The values are those of the whole signal
 * at once, bit for bit. A missing value is replaced by the previous one before the steps.
 */
export class ChannelWindows implements StreamWindows {
  readonly valuesPerSample: number;
  readonly rawLength: number;
  readonly delayMs: number;
  readonly resampledToHz: number | null;
  readonly needsResampling = false;
  readonly #windowing: Windowing;
  readonly #perModelSample: number;
  readonly #createPipeline: () => Pipeline;
  #pipeline: Pipeline;
  /** Received samples, and samples after the steps, from those of the current window on. */
  readonly #raw: FrameBuffer;
  readonly #samples: FrameBuffer;
  /** Last finite value of each channel. */
  readonly #last: Float64Array;
  #window = 0;
  #hasEnded = false;

  /** @throws PreprocessingError */
  constructor(options: WindowOptions, settings: ModelSettings) {
    const plan = planStream(options, settings);
    this.#windowing = windowingOf(options, settings);
    this.#createPipeline = plan.createPipeline;
    this.#pipeline = plan.createPipeline();
    const { input, output } = plan;
    const [rate, modelRate] = [input.samplingRateHz, output.samplingRateHz];
    this.#perModelSample = rate / modelRate;
    this.valuesPerSample = input.channels.length;
    this.rawLength = SlidingWindows.rawLengthOf(this.#windowing);
    this.resampledToHz = rate === modelRate ? null : modelRate;
    this.delayMs = (plan.delaySamples / rate) * 1000;
    this.#raw = new FrameBuffer(this.valuesPerSample);
    this.#samples = new FrameBuffer(output.channels.length);
    this.#last = new Float64Array(this.valuesPerSample);
  }

  static bytesOf(options: WindowOptions, settings: ModelSettings): number {
    const { input, output, state } = planStream(options, settings);
    const windowing = windowingOf(options, settings);
    const chunk = Math.max(1, Math.floor(MAX_VALUES / input.channels.length));
    const raw = SlidingWindows.rawLengthOf(windowing) + chunk;
    const values =
      (raw * input.channels.length + (windowing.windowLength + chunk) * output.channels.length) *
        2 +
      2 * (state ?? 0);
    return values * Float64Array.BYTES_PER_ELEMENT;
  }

  get isComplete(): boolean {
    return this.#samples.end >= this.#start + this.#windowing.windowLength;
  }

  get window(): ChannelWindow {
    const start = this.#start;
    const end = start + this.#windowing.windowLength;
    return new ChannelWindow(toRows(this.#samples.views(start, end)), []);
  }

  get position(): number {
    return this.#start * this.#perModelSample;
  }

  get firstRaw(): number {
    return Math.floor(this.position);
  }

  resample(): void {}

  take(values: Float64Array, offset: number): number {
    const { valuesPerSample: width } = this;
    const room = Math.max(1, Math.floor(MAX_VALUES / width));
    const count = Math.min(room, (values.length - offset) / width);
    const block = deinterleave(values.subarray(offset, offset + count * width), width);
    this.#raw.append(block, this.firstRaw);
    this.#fillMissing(block);
    this.#samples.append(this.#pipeline.push(block), this.#start);
    return count * width;
  }

  analyze(analyzer: SignalQualityAnalyzer): WindowQuality {
    let problems = 0;
    let peakToPeak = 0;
    let mainsShare = Number.NaN;
    let isUsable = true;
    const first = this.firstRaw;
    for (const samples of this.#raw.views(first, first + this.rawLength)) {
      analyzer.analyze(samples);
      problems |= analyzer.problems;
      peakToPeak = Math.max(peakToPeak, analyzer.peakToPeak);
      if (!(analyzer.mainsShare <= mainsShare)) mainsShare = analyzer.mainsShare;
      isUsable &&= analyzer.isUsable;
    }
    return { problems, peakToPeak, mainsShare, isUsable };
  }

  advance(): void {
    this.#window++;
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#samples.append(this.#pipeline.end(), this.#start);
  }

  restart(): void {
    this.#hasEnded = false;
    this.#pipeline = this.#createPipeline();
    this.#raw.clear();
    this.#samples.clear();
    this.#last.fill(0);
    this.#window = 0;
  }

  /** Number of the first sample of the current window after the steps. */
  get #start(): number {
    return Math.round((this.#window * this.#windowing.step) / this.#perModelSample);
  }

  #fillMissing(block: Block): void {
    for (const [channel, samples] of block.entries()) {
      let last = this.#last[channel] as number;
      for (let i = 0; i < samples.length; i++) {
        if (Number.isFinite(samples[i])) last = samples[i] as number;
        else samples[i] = last;
      }
      this.#last[channel] = last;
    }
  }
}

/** Channels of frames, each a copy. */
function deinterleave(frames: Float64Array, width: number): Block {
  const length = frames.length / width;
  return Array.from({ length: width }, (_, channel) => {
    const samples = new Float64Array(length);
    for (let i = 0; i < length; i++) samples[i] = frames[i * width + channel] as number;
    return samples;
  });
}
