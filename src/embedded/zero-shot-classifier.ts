import path from 'node:path';
import type { SchedulingOptions, TextInput } from '../native/engine';
import { configFromOptions } from '../settings/config';
import type { Classification, EntailmentMetadata } from '../tasks/capabilities';
import { zeroShot } from '../tasks/registry';
import {
  classifyZeroShot,
  findTemplateProblem,
  TEMPLATE,
  type ZeroShotResult,
} from '../tasks/zero-shot/classify';
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
  /** Folder of an NLI model, written by `save_pretrained`. */
  readonly modelDirectory: string;
}

export interface ZeroShotQuestionOptions extends RunOptions {
  /** Template with `{}` for the candidate label. Default: `This example is {}.` */
  readonly hypothesisTemplate?: string;
  /** Whether each label is scored independently. Default: false, the scores sum to 1. */
  readonly multiLabel?: boolean;
}

/**
 * Zero-shot classifier, equivalent to the `zero-shot-classification` pipeline of transformers. Load
 * it once and call `close` to release it.
 */
export class ZeroShot extends ModelEngine<string | TextInput, Classification, EntailmentMetadata> {
  /**
   * Loads the model.
   *
   * @throws errors of `Reranker.load`
   */
  static async load({ modelDirectory, ...options }: ZeroShotOptions): Promise<ZeroShot> {
    const { scheduling } = configFromOptions('sentiment', options, environment());
    return new ZeroShot(await loadTexts(zeroShot, path.resolve(modelDirectory), scheduling));
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
    const { hypothesisTemplate: template = TEMPLATE, multiLabel = false, ...run } = options;
    if (typeof text !== 'string') throw new InputError('expected a string', null);
    const wrong = labels.findIndex((label) => typeof label !== 'string');
    if (wrong >= 0) throw new InputError('expected a string as label', wrong);
    if (labels.length === 0) throw new InputError('labels: expected at least one', null);
    const problem = findTemplateProblem(template);
    if (problem !== null) throw new InputError(`hypothesisTemplate: ${problem}`, null);
    const question = { texts: [text], labels, template, isMultiLabel: multiLabel };
    const { answers } = await classifyZeroShot(this.model, question, run);
    return answers[0] ?? [];
  }
}
