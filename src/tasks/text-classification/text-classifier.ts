import {
  Engine,
  EngineError,
  type EngineMonitor,
  type Inference,
  type InferOptions,
  type ModelDescription,
  type SchedulingOptions,
  type SharedEngine,
  type TextInput,
} from '../../native/engine';
import { allFinite, argmax } from '../../numeric/activations';
import { type ModelDirectory, readModelDirectory } from './model-directory';
import { type ScoreFunction, scores } from './probabilities';

export interface Classification {
  readonly label: string;
  /** The double that a float32 widens to, not rounded. */
  readonly score: number;
  /** Scores of all labels, in the order of `TextClassifier.labels`. */
  readonly scores: Float32Array;
  readonly inference: Inference;
}

/** What is known of a model beside its engine. */
type Labelling = Pick<ModelDirectory, 'labels' | 'name' | 'version' | 'scoreFunction'>;

/** By which another thread of this process uses a classifier. */
export interface SharedTextClassifier {
  readonly engine: SharedEngine;
  readonly labelling: Labelling;
}

/** A Hugging Face sequence classifier: a text, or two, to its top label, as `pipeline` answers. */
export class TextClassifier {
  /** Names of the model's outputs, in order. */
  readonly labels: readonly string[];
  /** As config.json has them; null: it does not say. */
  readonly name: string | null;
  readonly version: string | null;
  readonly #engine: Engine<string | TextInput>;
  readonly #scoreFunction: ScoreFunction;

  private constructor(engine: Engine<string | TextInput>, labelling: Labelling) {
    this.#engine = engine;
    this.labels = labelling.labels;
    this.name = labelling.name;
    this.version = labelling.version;
    this.#scoreFunction = labelling.scoreFunction;
  }

  /** @throws ModelDirectoryError, EngineError with code MODEL_LOAD_FAILED */
  static async load(directory: string, scheduling: SchedulingOptions): Promise<TextClassifier> {
    const read = readModelDirectory(directory);
    return new TextClassifier(await Engine.load(read.source, scheduling), read);
  }

  /** The one that another thread has loaded and shared. */
  static attach({ engine, labelling }: SharedTextClassifier): TextClassifier {
    return new TextClassifier(Engine.attach(engine), labelling);
  }

  /** For `attach`. */
  share(): SharedTextClassifier {
    const { labels, name, version } = this;
    const labelling = { labels, name, version, scoreFunction: this.#scoreFunction };
    return { engine: this.#engine.share(), labelling };
  }

  get monitor(): EngineMonitor {
    return this.#engine;
  }

  /** For the log: what works, but hardly as it is meant to. */
  get warnings(): readonly string[] {
    return this.#engine.description.warnings;
  }

  get description(): ModelDescription {
    return this.#engine.description;
  }

  /** @throws EngineError: INPUT_TOO_LONG where the text is not to be cut as it would have to be */
  async classify(text: string | TextInput, options: InferOptions): Promise<Classification> {
    return this.#classification(await this.#engine.infer(text, options));
  }

  /**
   * @returns in the order of the texts
   * @throws EngineError; see `Engine.inferAll`
   */
  async classifyAll(
    texts: readonly (string | TextInput)[],
    options: InferOptions,
  ): Promise<readonly Classification[]> {
    const inferences = await this.#engine.inferAll(texts, options);
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

  #classification(inference: Inference, index: number | null = null): Classification {
    const values = scores(inference.logits, this.#scoreFunction);
    if (!allFinite(values)) {
      throw new EngineError('INFERENCE_FAILED', 'The model gave an output that is not finite.', {
        index,
      });
    }
    const top = argmax(values);
    return {
      label: this.labels[top] as string,
      score: values[top] as number,
      scores: values,
      inference,
    };
  }
}
