import path from 'node:path';
import type { SchedulingOptions } from '../native/engine';
import { configFromOptions } from '../settings/config';
import type { ModelMetadata, Prediction } from '../tasks/capabilities';
import { gliclass } from '../tasks/decision/gliclass-task';
import { gliner2, gliner2Classification } from '../tasks/gliner2/gliner2-task';
import { zeroShot } from '../tasks/registry';
import type { Task } from '../tasks/task';
import type { TaskModel } from '../tasks/task-model';
import { findTemplateProblem, type ZeroShotResult } from '../tasks/zero-shot/classify';
import type { ZeroShotClassifier } from '../tasks/zero-shot/zero-shot-classifier';
import { createZeroShotClassifier } from '../tasks/zero-shot-models';
import {
  type EngineOptions,
  environment,
  InputError,
  loadTexts,
  ModelEngine,
  type RunOptions,
} from './engine';

export interface ZeroShotOptions
  extends EngineOptions,
    Pick<SchedulingOptions, 'dtype' | 'attentionDtype'> {
  /** Folder of an NLI model, or of a GLiClass or GLiNER2 model, written by `save_pretrained`. */
  readonly modelDirectory: string;
}

export interface ZeroShotQuestionOptions extends RunOptions {
  /** Template with `{}` for the label. Default: `This example is {}.`; the label for GLiClass and GLiNER2 models. */
  readonly hypothesisTemplate?: string;
  /** Whether each label is scored independently. Default: false, the scores sum to 1. */
  readonly multiLabel?: boolean;
}

/**
 * Zero-shot classifier, equivalent to the `zero-shot-classification` pipeline of transformers, to that of gliclass or
 * to `classify_text` of gliner2. Load it once and call `close` to release it.
 */
export class ZeroShot extends ModelEngine<unknown, Prediction, ModelMetadata> {
  readonly #classifier: ZeroShotClassifier;

  private constructor(task: Task, model: TaskModel) {
    super(model);
    this.#classifier = createZeroShotClassifier(task, model) as ZeroShotClassifier;
  }

  /**
   * Loads the model.
   *
   * @throws errors of `Reranker.load`
   */
  static async load({ modelDirectory, ...options }: ZeroShotOptions): Promise<ZeroShot> {
    const { scheduling } = configFromOptions('sentiment', options, environment());
    const folder = path.resolve(modelDirectory);
    const isOwn = (task: Pick<Task, 'findModelPaths'>) => task.findModelPaths(folder).length > 0;
    const task = ([gliclass, gliner2, gliner2Classification].find(isOwn) ?? zeroShot) as Task;
    return new ZeroShot(task, await loadTexts(task, folder, scheduling));
  }

  /**
   * Classifies a text with candidate labels.
   *
   * @returns labels by descending score
   * @throws EngineError, InputError
   */
  async classify(
    text: string,
    labels: readonly string[],
    options: ZeroShotQuestionOptions = {},
  ): Promise<ZeroShotResult> {
    const { hypothesisTemplate: template = null, multiLabel = false, ...run } = options;
    if (typeof text !== 'string') throw new InputError('expected a string', null);
    const wrong = labels.findIndex((label) => typeof label !== 'string');
    if (wrong >= 0) throw new InputError('expected a string as label', wrong);
    if (labels.length === 0) throw new InputError('labels: expected at least one', null);
    const problem = template === null ? null : findTemplateProblem(template);
    if (problem !== null) throw new InputError(`hypothesisTemplate: ${problem}`, null);
    const request = { texts: [text], labels, template, isMultiLabel: multiLabel };
    const { answers } = await this.#classifier.classifyLabels(request, run);
    return answers[0] ?? [];
  }
}
