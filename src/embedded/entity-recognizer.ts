import path from 'node:path';
import type { SchedulingOptions } from '../native/engine';
import { configFromOptions } from '../settings/config';
import type {
  Candidates,
  Entity,
  EntityInput,
  EntityMetadata,
} from '../tasks/entity-recognition/entities';
import { entityRecognition } from '../tasks/entity-recognition/entity-recognition-task';
import { findEntities } from '../tasks/entity-recognition/find-entities';
import { findLabelProblem, toDescribedLabels, toLabels } from '../tasks/entity-recognition/labels';
import { overlapsOf } from '../tasks/entity-recognition/overlaps';
import { gliner2 } from '../tasks/gliner2/gliner2-task';
import {
  type EngineOptions,
  environment,
  InputError,
  loadTexts,
  ModelEngine,
  type RunOptions,
} from './engine';

export interface EntityRecognizerOptions
  extends EngineOptions,
    Pick<SchedulingOptions, 'dtype' | 'attentionDtype'> {
  /** Folder of a GLiNER or GLiNER2 model, written by `save_pretrained`. */
  readonly modelDirectory: string;
}

export interface EntityTagOptions extends RunOptions {
  /** Types of entities: names, or names with descriptions. GLiNER models read them instead of the names. */
  readonly labels: readonly string[] | Readonly<Record<string, string>>;
  /** Score above which a span is an entity. Default: 0.5. */
  readonly threshold?: number;
  /**
   * Whether entities must not overlap. Otherwise one can contain others. Default: true; of GLiNER2 models, entities with
   * different labels can overlap.
   */
  readonly flat?: boolean;
  /** Whether the same words can have several labels. Default: false. */
  readonly multiLabel?: boolean;
}

/** Entity of a text: `text.slice(start, end)`. The score is not rounded. */
export type RecognizedEntity = Entity;

/**
 * GLiNER model, equivalent to `GLiNER.predict_entities`, or to `extract_entities` of gliner2. Load it once and call `close` to release it.
 * Long texts are read in windows.
 */
export class EntityRecognizer extends ModelEngine<EntityInput, Candidates, EntityMetadata> {
  /**
   * Loads the model.
   *
   * @throws ConfigError if an option is invalid; EngineError MODEL_LOAD_FAILED, whose message names
   *   the file and the key
   */
  static async load({
    modelDirectory,
    ...options
  }: EntityRecognizerOptions): Promise<EntityRecognizer> {
    const { scheduling } = configFromOptions('sentiment', options, environment());
    const folder = path.resolve(modelDirectory);
    const isGliner2 = gliner2.findModelPaths(folder).length > 0;
    const task = (isGliner2 ? gliner2 : entityRecognition) as typeof entityRecognition;
    return new EntityRecognizer(await loadTexts(task, folder, scheduling));
  }

  /**
   * Returns the entities of a text.
   *
   * @throws EngineError, InputError
   */
  async tag(text: string, options: EntityTagOptions): Promise<readonly RecognizedEntity[]> {
    const [entities] = await this.#find([text], null, options);
    return entities as readonly RecognizedEntity[];
  }

  /**
   * Returns the entities of several texts.
   *
   * @returns results in input order
   * @throws EngineError, InputError with the index of the text
   */
  tagBatch(
    texts: readonly string[],
    options: EntityTagOptions,
  ): Promise<readonly (readonly RecognizedEntity[])[]> {
    return this.#find(texts, 0, options);
  }

  async #find(
    texts: readonly unknown[],
    firstIndex: number | null,
    { labels, threshold = 0.5, flat, multiLabel = false, ...options }: EntityTagOptions,
  ): Promise<readonly (readonly RecognizedEntity[])[]> {
    for (const [index, text] of texts.entries()) {
      if (typeof text === 'string') continue;
      const received = text === null ? 'null' : typeof text;
      const message = `expected a string, received ${received}`;
      throw new InputError(message, firstIndex === null ? null : index);
    }
    const names = Array.isArray(labels) ? labels : Object.values(labels ?? {});
    const problem = findLabelProblem(names) ?? findLabelProblem(Object.keys(labels ?? {}));
    if (problem !== null) throw new InputError(`labels: ${problem}`, null);
    if (!(threshold >= 0 && threshold <= 1)) {
      throw new InputError('threshold: expected a number from 0 to 1', null);
    }
    const { entities } = await findEntities(
      this.model,
      texts as readonly string[],
      {
        labels: Array.isArray(labels)
          ? toLabels(labels)
          : toDescribedLabels(labels as Readonly<Record<string, string>>),
        threshold,
        ...overlapsOf(flat ?? null, this.model.metadata),
        isMultiLabel: multiLabel,
      },
      options,
    );
    return entities;
  }
}
