import { eachInTurn } from '../lib/in-turns';
import {
  Engine,
  type EngineError,
  type EngineMonitor,
  type Inference,
  type InferOptions,
  type NativeInput,
  type SchedulingOptions,
  type Vocabulary,
} from '../native/engine';
import type {
  BatchPredictor,
  InferenceCallbacks,
  ModelMetadata,
  Prediction,
  Predictor,
} from './abilities';
import type { Task } from './task';

/** A loaded model: an engine, between what its task makes of inputs and what it makes of outputs. */
export class TaskModel<
  Input = unknown,
  Answer = Prediction,
  Known extends ModelMetadata = ModelMetadata,
> implements Predictor<Input, Answer, Known>, BatchPredictor<Input, Answer>
{
  readonly metadata: Known;
  /** When it was loaded. */
  readonly since = new Date();
  /** For the log: what works, but hardly as it is meant to. */
  readonly warnings: readonly string[];
  readonly #task: Task<Input, Answer, Known>;
  readonly #engine: Engine;

  private constructor(
    task: Task<Input, Answer, Known>,
    engine: Engine,
    { about, warnings }: { readonly about: Known; readonly warnings: readonly string[] },
  ) {
    this.#task = task;
    this.#engine = engine;
    this.metadata = about;
    this.warnings = warnings;
  }

  /**
   * @param place of the model: a folder or a file
   * @param files what `Task.read` says of them, where another thread has read them
   * @throws ModelFileError, EngineError with code MODEL_LOAD_FAILED
   */
  static async load<Input, Answer, Known extends ModelMetadata>(
    task: Task<Input, Answer, Known>,
    place: string,
    scheduling: SchedulingOptions,
    files = task.read(place),
  ): Promise<TaskModel<Input, Answer, Known>> {
    const { source, about } = files;
    const engine = await Engine.load(source, scheduling);
    try {
      const { description } = engine;
      const warnings = [...description.warnings, ...task.validateLoaded(description, about, place)];
      return new TaskModel(task, engine, { about, warnings });
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /**
   * The same model for another task, which reads its inputs and outputs in its own way.
   *
   * @returns shares the engine: closing either closes both
   */
  as<OtherInput, OtherAnswer, OtherAbout extends ModelMetadata>(
    task: Task<OtherInput, OtherAnswer, OtherAbout>,
    about: OtherAbout,
  ): TaskModel<OtherInput, OtherAnswer, OtherAbout> {
    return new TaskModel(task, this.#engine, { about, warnings: this.warnings });
  }

  get monitor(): EngineMonitor {
    return this.#engine;
  }

  get maxLength(): number {
    return this.#engine.description.maxLength;
  }

  get vocabulary(): Vocabulary | null {
    return this.#engine.vocabulary;
  }

  async run(input: Input, options: InferOptions): Promise<Answer> {
    const inference = await this.#engine.infer(this.prepare(input), options);
    return this.answer(inference, input);
  }

  async runAll(inputs: readonly Input[], options: InferOptions): Promise<readonly Answer[]> {
    const prepared = inputs.map((input) => this.#task.prepare(input, this.metadata));
    const inferences = await this.#engine.inferAll(prepared, options);
    return eachInTurn(inferences, (one, index) =>
      this.#task.toPrediction(one, this.metadata, index, inputs[index] as Input),
    );
  }

  prepare(input: Input): NativeInput {
    return this.#task.prepare(input, this.metadata);
  }

  runEach(
    inputs: readonly NativeInput[],
    timeoutMs: number,
    waiting: readonly InferenceCallbacks[],
  ): void {
    this.#engine.inferEach(inputs, timeoutMs, waiting);
  }

  answer(inference: Inference, input: Input): Answer {
    return this.#task.toPrediction(inference, this.metadata, null, input);
  }

  refusal(timeoutMs: number): EngineError | null {
    return this.#engine.refusal(timeoutMs);
  }

  /** See `Engine.setShare`. */
  setShare(share: number): void {
    this.#engine.setShare(share);
  }

  /** See `Engine.drop`. */
  drop(): void {
    this.#engine.drop();
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
