import {
  Engine,
  EngineError,
  type Inference,
  type InferOptions,
  type SchedulingOptions,
} from '../native/engine';
import { allFinite, argmax, softmax } from '../numeric/activations';
import { CLASSES, type Diagnosis, WINDOW_LENGTH } from './classes';
import { zNormalize } from './z-normalize';

export interface EegClassification {
  readonly diagnosis: Diagnosis;
  /** The double that a float32 probability widens to, not rounded. */
  readonly confidence: number;
  readonly inference: Inference;
}

/** A TorchScript model from one z-normalized window (1 × 1 × 256) to three logits. */
export class EegClassifier {
  readonly #engine: Engine<Float32Array>;

  private constructor(engine: Engine<Float32Array>) {
    this.#engine = engine;
  }

  /** @throws EngineError with code MODEL_LOAD_FAILED */
  static async load(path: string, scheduling: SchedulingOptions): Promise<EegClassifier> {
    const engine = await Engine.load(
      { type: 'torchscript', path, windowLength: WINDOW_LENGTH, numClasses: CLASSES.length },
      scheduling,
    );
    return new EegClassifier(engine);
  }

  /**
   * @param signal `WINDOW_LENGTH` finite values in any linear unit
   * @throws EngineError
   */
  async classify(signal: readonly number[], options: InferOptions): Promise<EegClassification> {
    const inference = await this.#engine.infer(new Float32Array(zNormalize(signal)), options);
    const { logits } = inference;
    if (logits.length !== CLASSES.length || !allFinite(logits)) {
      throw new EngineError(
        'INFERENCE_FAILED',
        `The model's output is not ${CLASSES.length} finite numbers.`,
      );
    }
    const probabilities = softmax(logits);
    const top = argmax(probabilities);
    return {
      diagnosis: CLASSES[top] as Diagnosis,
      confidence: probabilities[top] as number,
      inference,
    };
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
