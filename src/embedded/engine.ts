import path from 'node:path';
import { findDtypeProblem } from '../native/addon';
import { EngineError, type SchedulingOptions } from '../native/engine';
import { readEnvironment } from '../settings/environment';
import type {
  Classification,
  ClassifierMetadata,
  ModelMetadata,
  Prediction,
} from '../tasks/capabilities';
import type { Task } from '../tasks/task';
import { TaskModel } from '../tasks/task-model';

export const PACKAGE_ROOT = path.resolve(__dirname, '..', '..');

/**
 * Scheduling options of an engine, with the same defaults and meanings as the settings of the
 * services.
 */
export type EngineOptions = Partial<Omit<SchedulingOptions, 'dtype' | 'attentionDtype' | 'weight'>>;

export interface RunOptions {
  /** Cancels the request: inputs that have not started to run are dropped with CANCELLED. */
  readonly signal?: AbortSignal;
  /**
   * Deadline in ms from now: inputs that have not started to run by then are dropped with
   * DEADLINE_EXCEEDED.
   */
  readonly timeoutMs?: number;
}

/** Invalid input. `index` is its position in a list; null for a single input. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly code = 'INPUT_INVALID';
  readonly index: number | null;

  constructor(message: string, index: number | null) {
    super(index === null ? message : `[${index}]: ${message}`);
    this.index = index;
  }
}

/** Loaded model. Call `close` to release it. */
export abstract class ModelEngine<
  Input,
  Answer extends Prediction,
  Metadata extends ModelMetadata,
> {
  protected readonly model: TaskModel<Input, Answer, Metadata>;

  protected constructor(model: TaskModel<Input, Answer, Metadata>) {
    this.model = model;
  }

  /**
   * Finishes accepted requests, rejects new requests (DRAINING), stops the threads, and releases
   * the model.
   */
  close(): Promise<void> {
    return this.model.close();
  }
}

/** Classifier that validates its inputs. */
export abstract class ClassifierEngine<Given, Input, Result> extends ModelEngine<
  Input,
  Classification,
  ClassifierMetadata
> {
  readonly #toInput: (given: Given, index: number | null) => Input;
  readonly #toResult: (prediction: Classification) => Result;

  /** @param toInput validates and converts an input; throws InputError with the index in a list */
  protected constructor(
    model: TaskModel<Input, Classification, ClassifierMetadata>,
    toInput: (given: Given, index: number | null) => Input,
    toResult: (prediction: Classification) => Result,
  ) {
    super(model);
    this.#toInput = toInput;
    this.#toResult = toResult;
  }

  /**
   * Classifies an input.
   *
   * @param input for signals: `windowLength` finite values in any linear unit; the values are
   *   z-normalized
   * @throws EngineError, InputError
   */
  async classify(input: Given, options: RunOptions = {}): Promise<Result> {
    const taken = this.#toInput(input, null);
    return this.#toResult(await this.model.run(taken, options));
  }

  /**
   * Classifies several inputs. If the queue cannot take all inputs (QUEUE_FULL), none runs.
   *
   * @returns results in input order
   * @throws EngineError, InputError with the index of the input
   */
  async classifyBatch(
    inputs: readonly Given[],
    options: RunOptions = {},
  ): Promise<readonly Result[]> {
    const taken = inputs.map((input, index) => this.#toInput(input, index));
    const predictions = await this.model.runAll(taken, options);
    return predictions.map((prediction) => this.#toResult(prediction));
  }
}

/**
 * Loads a model from a folder of a text model.
 *
 * @throws EngineError MODEL_LOAD_FAILED, whose message names the file and the key
 */
export function loadTexts<Input, Answer extends Prediction, Metadata extends ModelMetadata>(
  task: Task<Input, Answer, Metadata>,
  directory: string,
  scheduling: SchedulingOptions,
): Promise<TaskModel<Input, Answer, Metadata>> {
  return loaded(async () => {
    const { dtype, attentionDtype } = scheduling;
    const problem = findDtypeProblem(dtype ?? 'float32', attentionDtype);
    if (problem) throw new Error(problem);
    return TaskModel.load(task, directory, scheduling);
  });
}

export const environment = () => readEnvironment(PACKAGE_ROOT);

/**
 * Runs a load function and converts all errors.
 *
 * @throws EngineError MODEL_LOAD_FAILED
 */
export async function loaded<Model>(load: () => Promise<Model>): Promise<Model> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('MODEL_LOAD_FAILED', (error as Error).message);
  }
}
