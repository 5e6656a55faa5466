import path from 'node:path';
import { configFromOptions } from '../settings/config';
import type { Classification, SignalMetadata } from '../tasks/capabilities';
import { signalClassification } from '../tasks/signal-classification/signal-classification-task';
import type { SignalInput } from '../tasks/signal-classification/window-preparation';
import { TaskModel } from '../tasks/task-model';
import {
  byName,
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
}

/** Classifier of signal windows. The included model is a demonstration, not a medical device. */
export class SignalClassifier extends ClassifierEngine<ArrayLike<number>, SignalInput, EegResult> {
  readonly classes: readonly string[];
  /** Window length in samples. */
  readonly windowLength: number;

  private constructor(model: TaskModel<SignalInput, Classification, SignalMetadata>) {
    const { labels } = model.metadata;
    super(
      model,
      (signal, index) => takeSamples(signal, model.maxLength, index),
      ({ label, score, scores }) => ({
        diagnosis: label,
        confidence: score,
        probabilities: byName(labels, scores),
      }),
    );
    this.classes = labels;
    this.windowLength = model.maxLength;
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

function takeSamples(signal: ArrayLike<number>, length: number, index: number | null) {
  const samples = Array.from(signal);
  if (samples.length !== length) {
    throw new InputError(`expected ${length} samples, received ${samples.length}`, index);
  }
  const wrong = samples.findIndex((sample) => !Number.isFinite(sample));
  if (wrong >= 0) throw new InputError(`sample ${wrong}: expected a finite number`, index);
  return samples;
}
