import path from 'node:path';
import { PreprocessingError } from '../preprocessing/block';
import { configFromOptions } from '../settings/config';
import type { Classification, SignalMetadata } from '../tasks/capabilities';
import { byName } from '../tasks/classification';
import {
  ChannelLengthError,
  type ChannelSignals,
  readChannelWindow,
} from '../tasks/signal-classification/channel-signals';
import { signalClassification } from '../tasks/signal-classification/signal-classification-task';
import type { SignalInput } from '../tasks/signal-classification/window-preparation';
import { TaskModel } from '../tasks/task-model';
import {
  ClassifierEngine,
  type EngineOptions,
  environment,
  InputError,
  loaded,
  PACKAGE_ROOT,
} from './engine';

export interface EegOptions extends EngineOptions {
  /** Path of a TorchScript or torch.export file. Default: the included model. */
  readonly modelPath?: string;
}

export interface EegResult {
  readonly diagnosis: string;
  /** Probability of the diagnosis, not rounded. */
  readonly confidence: number;
  /** Probabilities of all classes by name, not rounded. */
  readonly probabilities: Readonly<Record<string, number>>;
  /** Channels that are computed from others; undefined: a model of one channel, or a flat array. */
  readonly interpolated?: readonly string[];
}

/** Window of several channels: by the name of the channel, or rows in the order of the model. */
export type { ChannelSignals };

/** Classifier of signal windows. The included model is a demonstration, not a medical device. */
export class SignalClassifier extends ClassifierEngine<
  ArrayLike<number> | ChannelSignals,
  SignalInput,
  EegResult
> {
  readonly classes: readonly string[];
  /** Number of samples of a window: of one channel, or of all channels together. */
  readonly windowLength: number;
  /** Channels of a window, in order; null: the model takes one channel. */
  readonly channels: readonly string[] | null;

  private constructor(model: SignalModel) {
    const { labels, settings } = model.metadata;
    super(
      model,
      (signal, index) => toInput(signal, model, index),
      ({ label, score, scores, interpolated }) => ({
        diagnosis: label,
        confidence: score,
        probabilities: byName(labels, scores),
        ...(interpolated && { interpolated }),
      }),
    );
    this.classes = labels;
    this.windowLength = model.maxLength;
    this.channels = settings.channels?.inputs ?? null;
  }

  /**
   * Loads the model.
   *
   * @throws errors of `TextClassifier.load`
   */
  static async load(options: EegOptions = {}): Promise<SignalClassifier> {
    const shipped = path.join(PACKAGE_ROOT, 'models', 'eeg', 'eeg_model.pt');
    const given = { ...options, eegModelPath: options.modelPath ?? shipped };
    const { scheduling, eegModelPath } = configFromOptions('eeg', given, environment());
    const load = () => TaskModel.load(signalClassification, eegModelPath, scheduling);
    return new SignalClassifier(await loaded(load));
  }
}

type SignalModel = TaskModel<SignalInput, Classification, SignalMetadata>;

/** @throws InputError */
function toInput(
  signal: ArrayLike<number> | ChannelSignals,
  { metadata: { settings }, maxLength }: SignalModel,
  index: number | null,
): SignalInput {
  if (isFlat(signal)) return takeSamples(signal, maxLength, index);
  if (settings.channels === null) throw new InputError('expected an array of numbers', index);
  for (const [channel, samples] of Object.entries(signal)) {
    const wrong = Array.from(samples).findIndex((sample) => !Number.isFinite(sample));
    if (wrong >= 0) {
      throw new InputError(`${channel}: sample ${wrong}: expected a finite number`, index);
    }
  }
  try {
    return readChannelWindow(settings, signal, {});
  } catch (error) {
    if (!(error instanceof PreprocessingError)) throw error;
    const place = error instanceof ChannelLengthError ? `signals${error.place}: ` : '';
    throw new InputError(`${place}${error.message}`, index);
  }
}

function isFlat(signal: ArrayLike<number> | ChannelSignals): signal is ArrayLike<number> {
  return ArrayBuffer.isView(signal) || (Array.isArray(signal) && typeof signal[0] !== 'object');
}

function takeSamples(signal: ArrayLike<number>, length: number, index: number | null) {
  if (signal.length !== length) {
    throw new InputError(`expected ${length} samples, received ${signal.length}`, index);
  }
  const samples = Array.isArray(signal) ? (signal.slice() as number[]) : Array.from(signal);
  // A loop: a callback for each sample costs as much as a small model.
  for (let i = 0; i < length; i++) {
    if (!Number.isFinite(samples[i])) {
      throw new InputError(`sample ${i}: expected a finite number`, index);
    }
  }
  return samples;
}
