import {
  Engine,
  EngineError,
  type EngineMonitor,
  type Inference,
  type InferOptions,
  type ModelDescription,
  type SchedulingOptions,
} from '../native/engine';
import { allFinite, argmax } from '../numeric/activations';
import { readModelDirectory } from './model-directory';
import { type ScoreFunction, scores } from './probabilities';

export interface Classification {
  readonly label: string;
  /** The double that a float32 widens to, not rounded. */
  readonly score: number;
  readonly inference: Inference;
}

/** A Hugging Face sequence classifier: text to its top label, as `pipeline` answers. */
export class TextClassifier {
  readonly #engine: Engine<string>;
  readonly #labels: readonly string[];
  readonly #scoreFunction: ScoreFunction;

  private constructor(
    engine: Engine<string>,
    labels: readonly string[],
    scoreFunction: ScoreFunction,
  ) {
    this.#engine = engine;
    this.#labels = labels;
    this.#scoreFunction = scoreFunction;
  }

  /** @throws ModelDirectoryError, EngineError with code MODEL_LOAD_FAILED */
  static async load(directory: string, scheduling: SchedulingOptions): Promise<TextClassifier> {
    const { source, labels, scoreFunction } = readModelDirectory(directory);
    const engine = await Engine.load(source, scheduling);
    return new TextClassifier(engine, labels, scoreFunction);
  }

  get monitor(): EngineMonitor {
    return this.#engine;
  }

  get description(): ModelDescription {
    return this.#engine.description;
  }

  /** @throws EngineError */
  async classify(text: string, options: InferOptions): Promise<Classification> {
    const inference = await this.#engine.infer(text, options);
    const values = scores(inference.logits, this.#scoreFunction);
    if (!allFinite(values)) {
      throw new EngineError('INFERENCE_FAILED', 'The model gave an output that is not finite.');
    }
    const top = argmax(values);
    return {
      label: this.#labels[top] as string,
      score: values[top] as number,
      inference,
    };
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
