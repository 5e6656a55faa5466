/** The engines of both services, for use inside another Node.js program. */
import path from 'node:path';
import { addon, EngineError, type SchedulingOptions, type TextInput } from './native/engine';
import { configOf } from './settings/config';
import { readEnvironment } from './settings/environment';
import type { Classification, ClassifierAbout } from './tasks/abilities';
import { signalClassification } from './tasks/signal-classification/task';
import { TaskModel } from './tasks/task-model';
import { textClassification } from './tasks/text-classification/task';
import {
  findInputProblem,
  type SentimentInput,
  toTextInput,
} from './tasks/text-classification/text-input';

export { EngineError, type EngineErrorCode } from './native/engine';
export { ConfigError } from './settings/config';
export type { SentimentInput, SentimentTexts } from './tasks/text-classification/text-input';

const PACKAGE_ROOT = path.resolve(__dirname, '..');

/** How an engine may use the machine; defaults, and what they mean, as in the settings of the services. */
export type EngineOptions = Partial<Omit<SchedulingOptions, 'dtype' | 'products' | 'share'>>;

export interface SentimentOptions
  extends EngineOptions,
    Pick<SchedulingOptions, 'dtype' | 'products'> {
  /** Folder that Hugging Face `save_pretrained` wrote. Default: the shipped model. */
  readonly modelDirectory?: string;
}

export interface EegOptions extends EngineOptions {
  /** TorchScript or torch.export file. Default: the shipped model. */
  readonly modelPath?: string;
}

export interface ClassifyOptions {
  /** Aborted: what has not begun to run is dropped, with CANCELLED. */
  readonly signal?: AbortSignal;
  /** From now, in ms: what has not begun to run by then is dropped, with DEADLINE_EXCEEDED. */
  readonly timeoutMs?: number;
}

export interface SentimentResult {
  readonly label: string;
  /** Of the label; not rounded. */
  readonly score: number;
  /** Of all labels, by name. */
  readonly probabilities: Readonly<Record<string, number>>;
  /** The text, or the two together, had more tokens than the model takes, and was cut. */
  readonly truncated: boolean;
}

export interface EegResult {
  readonly diagnosis: string;
  /** Of the diagnosis; not rounded. */
  readonly confidence: number;
  /** Of all classes, by name. */
  readonly probabilities: Readonly<Record<string, number>>;
}

/** An input that no model can take. `index`: its place in a list. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly code = 'INPUT_INVALID';
  readonly index: number | null;

  constructor(message: string, index: number | null) {
    super(index === null ? message : `[${index}]: ${message}`);
    this.index = index;
  }
}

/** A model behind the check of its inputs. */
class ClassifierEngine<Given, Input, Result> {
  readonly #model: TaskModel<Input, Classification, ClassifierAbout>;
  readonly #toInput: (given: Given, index: number | null) => Input;
  readonly #toResult: (answer: Classification) => Result;

  /** @param toInput throws InputError, with the index in a list */
  protected constructor(
    model: TaskModel<Input, Classification, ClassifierAbout>,
    toInput: (given: Given, index: number | null) => Input,
    toResult: (answer: Classification) => Result,
  ) {
    this.#model = model;
    this.#toInput = toInput;
    this.#toResult = toResult;
  }

  /**
   * @param input of an EEG engine: `windowLength` finite values, in any linear unit: it is z-normalized
   * @throws EngineError, InputError
   */
  async classify(input: Given, options: ClassifyOptions = {}): Promise<Result> {
    const taken = this.#toInput(input, null);
    return this.#toResult(await this.#model.run(taken, options));
  }

  /**
   * @returns in the order of the inputs
   * @throws EngineError, InputError: with the index of the input at fault. Where the queue has no room
   *   for all of them (QUEUE_FULL), none is run.
   */
  async classifyBatch(
    inputs: readonly Given[],
    options: ClassifyOptions = {},
  ): Promise<readonly Result[]> {
    const taken = inputs.map((input, index) => this.#toInput(input, index));
    const answers = await this.#model.runAll(taken, options);
    return answers.map((answer) => this.#toResult(answer));
  }

  /** Answers what was accepted, refuses what comes (DRAINING), ends the threads, frees the model. */
  close(): Promise<void> {
    return this.#model.close();
  }
}

/** Texts to labels. Loaded once; `close` when it is no longer needed. */
export class SentimentEngine extends ClassifierEngine<
  SentimentInput,
  string | TextInput,
  SentimentResult
> {
  readonly labels: readonly string[];
  /** Tokens of a text, or of two together; longer ones are cut. */
  readonly maxLength: number;

  private constructor(model: TaskModel<string | TextInput, Classification, ClassifierAbout>) {
    const { labels } = model.about;
    super(model, takeText, ({ label, score, scores, inference }) => {
      const probabilities = byName(labels, scores);
      return { label, score, probabilities, truncated: inference.truncated };
    });
    this.labels = labels;
    this.maxLength = model.maxLength;
  }

  /**
   * @throws ConfigError: an option is wrong; EngineError with code MODEL_LOAD_FAILED, whose message
   *   names the file and the key at fault
   */
  static async load(options: SentimentOptions = {}): Promise<SentimentEngine> {
    const given = { ...options, sentimentModelDir: options.modelDirectory };
    const { scheduling, sentimentModelDir } = configOf('sentiment', given, environment());
    return new SentimentEngine(
      await loaded(async () => {
        const { dtype, products } = scheduling;
        const problem = addon().dtypeProblem(dtype, products);
        const option = dtype === 'float32' ? `products: ${products}` : `dtype: ${dtype}`;
        if (problem) throw new Error(`${option} is of no use here: ${problem}`);
        return TaskModel.load(textClassification, sentimentModelDir, scheduling);
      }),
    );
  }
}

/** Windows of a signal to classes. The shipped model is a demonstration, not a medical device. */
export class EegEngine extends ClassifierEngine<ArrayLike<number>, readonly number[], EegResult> {
  readonly classes: readonly string[];
  /** Samples. */
  readonly windowLength: number;

  private constructor(model: TaskModel<readonly number[], Classification, ClassifierAbout>) {
    const { labels } = model.about;
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

  /** @throws as `SentimentEngine.load` */
  static async load(options: EegOptions = {}): Promise<EegEngine> {
    const shipped = path.join(PACKAGE_ROOT, 'models', 'eeg', 'eeg_model.pt');
    const given = { ...options, eegModelPath: options.modelPath ?? shipped };
    const { scheduling, eegModelPath } = configOf('eeg', given, environment());
    const load = () => TaskModel.load(signalClassification, eegModelPath, scheduling);
    return new EegEngine(await loaded(load));
  }
}

function takeText(input: SentimentInput, index: number | null): string | TextInput {
  const problem = findInputProblem(input);
  if (problem !== null) throw new InputError(problem, index);
  return toTextInput(input);
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

const environment = () => readEnvironment(PACKAGE_ROOT);

async function loaded<Model>(load: () => Promise<Model>): Promise<Model> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('MODEL_LOAD_FAILED', (error as Error).message);
  }
}

function byName(names: readonly string[], values: Float32Array): Readonly<Record<string, number>> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] as number]));
}
