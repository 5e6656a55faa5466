import type { z } from 'zod';
import type { Inference, ModelDescription, ModelSource, NativeInput } from '../native/engine';
import type { Capability, ModelMetadata, Prediction } from './capabilities';
import type { Tensors } from './tensors';

/**
 * What a model is asked for: all that the rest of the program knows of it. A task is a folder beside
 * this file and a line in registry.ts.
 *
 * @typeParam Input one input, as protocols and files have it
 * @typeParam Answer what one run of the model says of it
 * @typeParam Known what is read of the model's files before it is loaded
 */
export interface Task<
  Input = unknown,
  Answer = Prediction,
  Metadata extends ModelMetadata = ModelMetadata,
> {
  /** As transformers' pipelines are named. */
  readonly name: string;
  /** In a sentence, for OpenAPI. */
  readonly summary: string;
  /** What its answers are not, before all that is said of it; null: there is nothing to say. */
  readonly disclaimer: string | null;
  /** Texts are tokenized, and multiplied in the numbers of DTYPE; signals in float32. */
  readonly inputKind: 'texts' | 'signals';
  /** What protocols may ask of its models. */
  readonly capabilities: readonly Capability[];
  /** Where the model is that a path names, a folder or a file; null: it is none of this task. */
  resolveModelPath(place: string): string | null;
  /** Its models right in a folder: the folder, or files in it. One model is expected. */
  findModelPaths(folder: string): readonly string[];
  /**
   * Whether files that other tasks take as well are marked as this one's, so that nobody has to name it; left
   * out: they never are. @throws ModelFileError
   */
  isDeclaredFor?(place: string): boolean;
  /** Absolute paths of all that a model is loaded from, as far as it is there. @throws ModelFileError */
  listFiles(place: string): readonly string[];
  /** Reads what says how a model is loaded, but for its weights. @throws ModelFileError */
  read(place: string): { readonly source: ModelSource; readonly metadata: Metadata };
  /**
   * Holds what the model says of itself, once it is loaded, against its files.
   *
   * @returns warnings, for the log
   * @throws ModelFileError: it is not the model that its files describe
   */
  validateLoaded(
    description: ModelDescription,
    metadata: Metadata,
    place: string,
  ): readonly string[];
  /** What the engine is given for an input. */
  prepare(input: Input, metadata: Metadata): NativeInput;
  /**
   * @param index of the input in a list, for the error; null: it was alone
   * @param input as `prepare` had it
   * @throws EngineError INFERENCE_FAILED: the model's outputs are no answer
   */
  toPrediction(
    inference: Inference,
    metadata: Metadata,
    index: number | null,
    input: Input,
  ): Answer;
  /** What the log says of a loaded model beside its kernels. */
  logFields(metadata: Metadata): object;
  /** Its fields of "model" in GET /info, there once the model is loaded, and their schemas. */
  readonly info: {
    readonly schemas: z.ZodRawShape;
    of(metadata: Metadata, description: ModelDescription): object;
  };
  /** As the Open Inference Protocol sees it. */
  readonly tensors: Tensors<Input, Answer, Metadata>;
  /** Of src/pages; null: it has none. */
  readonly page: string | null;
}
