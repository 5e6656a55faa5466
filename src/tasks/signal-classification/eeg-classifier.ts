import path from 'node:path';
import {
  Engine,
  EngineError,
  type EngineMonitor,
  type Inference,
  type InferOptions,
  type SchedulingOptions,
  type SharedEngine,
} from '../../native/engine';
import { allFinite, argmax, softmax } from '../../numeric/activations';
import { areProbabilities, judgeTrial } from './judge-trial';
import { type ModelSettings, readModelSettings, settingsPath } from './model-settings';
import { zNormalize } from './z-normalize';

export interface EegClassification {
  /** One of the settings' classes. */
  readonly diagnosis: string;
  /** The double that a float32 probability widens to, not rounded. */
  readonly confidence: number;
  /** Of all classes, in the order of the settings' `classes`. */
  readonly probabilities: Float32Array;
  readonly inference: Inference;
}

/** By which another thread of this process uses a classifier. */
export interface SharedEegClassifier {
  readonly engine: SharedEngine;
  readonly settings: ModelSettings;
}

/** A model from one z-normalized window to its class. */
export class EegClassifier {
  readonly settings: ModelSettings;
  /** For the log: what is allowed but hardly meant. */
  readonly warnings: readonly string[];
  readonly #engine: Engine<Float32Array>;

  private constructor(
    engine: Engine<Float32Array>,
    settings: ModelSettings,
    warnings: readonly string[],
  ) {
    this.#engine = engine;
    this.settings = settings;
    this.warnings = warnings;
  }

  /**
   * Loads `modelPath`, and the settings beside it where there are some.
   *
   * @throws ModelSettingsError, EngineError with code MODEL_LOAD_FAILED
   */
  static async load(modelPath: string, scheduling: SchedulingOptions): Promise<EegClassifier> {
    const settings = readModelSettings(modelPath);
    const { windowLength, inputShape } = settings;
    const engine = await Engine.load(
      { type: 'signal-program', path: modelPath, windowLength, ...(inputShape && { inputShape }) },
      scheduling,
    );
    try {
      const warnings = judgeTrial(engine.description.trial, settings, {
        modelFile: path.basename(modelPath),
        settingsFile: path.basename(settingsPath(modelPath)),
      });
      return new EegClassifier(engine, settings, [...engine.description.warnings, ...warnings]);
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /** The one that another thread has loaded, judged and shared. */
  static attach({ engine, settings }: SharedEegClassifier): EegClassifier {
    return new EegClassifier(Engine.attach(engine), settings, []);
  }

  /** For `attach`. */
  share(): SharedEegClassifier {
    return { engine: this.#engine.share(), settings: this.settings };
  }

  get monitor(): EngineMonitor {
    return this.#engine;
  }

  /**
   * @param signal `settings.windowLength` finite values in any linear unit
   * @throws EngineError
   */
  async classify(signal: readonly number[], options: InferOptions): Promise<EegClassification> {
    return this.#classification(await this.#engine.infer(prepare(signal), options));
  }

  /**
   * @param signals of `settings.windowLength` finite values each
   * @returns in the order of the signals
   * @throws EngineError; see `Engine.inferAll`
   */
  async classifyAll(
    signals: readonly (readonly number[])[],
    options: InferOptions,
  ): Promise<readonly EegClassification[]> {
    const inferences = await this.#engine.inferAll(signals.map(prepare), options);
    return inferences.map((inference, index) => this.#classification(inference, index));
  }

  /** See `Engine.refusal`. */
  refusal(timeoutMs: number): EngineError | null {
    return this.#engine.refusal(timeoutMs);
  }

  /** See `Engine.drop`. */
  drop(): void {
    this.#engine.drop();
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  #classification(inference: Inference, index: number | null = null): EegClassification {
    const probabilities = this.#probabilities(inference.logits, index);
    const top = argmax(probabilities);
    return {
      diagnosis: this.settings.classes[top] as string,
      confidence: probabilities[top] as number,
      probabilities,
      inference,
    };
  }

  #probabilities(outputs: Float32Array, index: number | null): Float32Array {
    const { classes, output } = this.settings;
    if (outputs.length !== classes.length || !allFinite(outputs)) {
      const message = `The model's output is not ${classes.length} finite numbers.`;
      throw new EngineError('INFERENCE_FAILED', message, { index });
    }
    if (output !== 'probabilities') return softmax(outputs);
    if (!areProbabilities(outputs)) {
      const message = `The model's output is not ${classes.length} probabilities.`;
      throw new EngineError('INFERENCE_FAILED', message, { index });
    }
    return outputs;
  }
}

/** What the model is given for a window. */
function prepare(signal: readonly number[]): Float32Array {
  return new Float32Array(zNormalize(signal));
}
