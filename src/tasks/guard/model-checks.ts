import { ModelFileError } from '../../models/files';
import type { Inference, InferOptions } from '../../native/engine';
import type { TextClassifier, TokenClassifier } from '../capabilities';
import { toSpans } from '../token-classification/spans';
import type { ZeroShotClassifier } from '../zero-shot/zero-shot-classifier';
import { findNamedEntities } from './entity-check';
import { withoutThresholds } from './findings';
import type { CheckOf, ModelCheck } from './guard-file';
import type { GuardModels } from './guard-result';
import type { CheckResult, Hit, TextVariant, UnreadText } from './scan';
import { classifyInChunks } from './zero-shot-chunks';

/** Tokenization options of a model check. */
export interface ReadOptions {
  readonly places?: true;
  /** Window length in tokens. */
  readonly maxTokens: number;
  readonly stride: number;
}

interface Model<Result> {
  runAll(
    inputs: readonly (ReadOptions & { readonly text: string })[],
    options: InferOptions,
  ): Promise<readonly Result[]>;
}

/** Inferences of one request. Checks with the same model, options and text share an inference. */
export class InferenceMemo {
  readonly #results = new Map<object, Map<string, Map<TextVariant, Promise<unknown>>>>();

  /**
   * Runs the model on the variants without a cached inference.
   *
   * @returns results in the order of the variants; the same objects for all checks
   */
  runAll<Result>(
    model: Model<Result>,
    variants: readonly TextVariant[],
    reading: ReadOptions,
    options: InferOptions,
  ): Promise<readonly Result[]> {
    const cached = this.#of(model, reading) as Map<TextVariant, Promise<Result>>;
    const missing = variants.filter((variant) => !cached.has(variant));
    if (missing.length > 0) {
      const inputs = missing.map(({ text }) => ({ text, ...reading }));
      const running = model.runAll(inputs, options);
      for (const [index, variant] of missing.entries()) {
        cached.set(
          variant,
          running.then((results) => results[index] as Result),
        );
      }
    }
    return Promise.all(variants.map((variant) => cached.get(variant) as Promise<Result>));
  }

  #of(model: object, reading: ReadOptions): Map<TextVariant, Promise<unknown>> {
    const byReading =
      this.#results.get(model) ?? new Map<string, Map<TextVariant, Promise<unknown>>>();
    this.#results.set(model, byReading);
    const key = JSON.stringify(reading);
    const byVariant = byReading.get(key) ?? new Map<TextVariant, Promise<unknown>>();
    byReading.set(key, byVariant);
    return byVariant;
  }
}

/** Default overlap of windows in tokens. */
const STRIDE = 64;
/** Upper estimate of characters per token for typical texts. */
const CHARACTERS_OF_TOKEN = 4;

/** Context that all model checks of a request share. */
export interface CheckContext {
  readonly models: GuardModels;
  readonly memo: InferenceMemo;
  /** Whether scores below the thresholds are requested. */
  readonly hasScores: boolean;
  /** Adds the limits and the signal of the request to inference options. */
  readonly within: (options: InferOptions) => InferOptions;
}

/** Check whose windows the policy determines. */
type WindowedCheck = Exclude<ModelCheck, { readonly type: 'entity-recognition' }>;

interface ResolvedModel<Model> {
  readonly model: Model;
  readonly options: InferOptions;
  readonly memo: InferenceMemo;
}

/**
 * Runs a model check on text variants.
 *
 * @throws Error: the model is not loaded, rejects the request or fails
 */
export async function runModelCheck(
  given: ModelCheck,
  variants: readonly TextVariant[],
  { models, memo, hasScores, within }: CheckContext,
): Promise<CheckResult> {
  if (given.type === 'entity-recognition') {
    const { model, options } = models.find(given.model, 'entity-recognition');
    return findNamedEntities(given, variants, model, { options: within(options), hasScores });
  }
  const check = hasScores ? withoutThresholds(given) : given;
  switch (check.type) {
    case 'text-classification': {
      const { model, options } = models.find(check.model, 'text-classification');
      return classify(check, variants, { model, memo, options: within(options) });
    }
    case 'token-classification': {
      const { model, options } = models.find(check.model, 'token-classification');
      return tag(check, variants, { model, memo, options: within(options) });
    }
    case 'zero-shot-classification': {
      const { model, options } = models.find(check.model, 'zero-shot');
      return choose(check, variants, model, within(options));
    }
  }
}

/** Returns the window length and overlap of long-text windowing. */
function windowsOf({ long_texts: { window, stride } }: WindowedCheck, maxLength: number) {
  const maxTokens = Math.min(window ?? maxLength, maxLength);
  return { maxTokens, stride: stride ?? Math.min(STRIDE, Math.floor(maxTokens / 4)) };
}

async function classify(
  check: CheckOf<'text-classification'>,
  variants: readonly TextVariant[],
  { model, options, memo }: ResolvedModel<TextClassifier>,
): Promise<CheckResult> {
  const { labels: modelLabels } = model.metadata;
  requireLabels(check, modelLabels);
  const reading = { places: true, ...windowsOf(check, model.maxLength) } as const;
  const results = await memo.runAll(model, variants, reading, options);
  const hits = results.flatMap(({ windows = [] }, index): Hit[] => {
    const variant = variants[index] as TextVariant;
    const all = { start: 0, end: variant.text.length };
    const combined = check.long_texts.combine === 'mean' && windows.length > 1;
    const read = combined
      ? [{ ...all, scores: meanOf(windows.map(({ scores }) => scores)) }]
      : windows;
    return read.flatMap(({ start, end, scores }) =>
      Object.entries(check.labels).flatMap(([label, threshold]) => {
        const score = scores[modelLabels.indexOf(label)] as number;
        if (score < threshold) return [];
        return [{ variant, label, score, ...(windows.length > 1 ? { start, end } : all) }];
      }),
    );
  });
  const inferences = results.map(({ inference }) => inference);
  return { hits, inferences, unread: toUnread(variants, inferences) };
}

async function tag(
  check: CheckOf<'token-classification'>,
  variants: readonly TextVariant[],
  { model, options, memo }: ResolvedModel<TokenClassifier>,
): Promise<CheckResult> {
  const { labels: wanted, threshold } = check;
  const strategy = check.aggregation_strategy;
  const plain =
    strategy === 'none' ? model.metadata.labels : model.metadata.labels.map(withoutPrefix);
  requireLabels(check, plain);
  const results = await memo.runAll(model, variants, windowsOf(check, model.maxLength), options);
  const hits: Hit[] = [];
  for (const [index, result] of results.entries()) {
    for (const { label, score, start, end } of await toSpans(result, model, { strategy })) {
      const minimum = wanted ? wanted[label] : threshold;
      if (minimum === undefined || score < minimum) continue;
      hits.push({ variant: variants[index] as TextVariant, label, score, start, end });
    }
  }
  const inferences = results.map(({ inference }) => inference);
  return { hits, inferences, unread: toUnread(variants, inferences) };
}

async function choose(
  check: CheckOf<'zero-shot-classification'>,
  variants: readonly TextVariant[],
  model: ZeroShotClassifier,
  options: InferOptions,
): Promise<CheckResult> {
  const request = {
    labels: check.candidate_labels,
    template: check.hypothesis_template ?? null,
    isMultiLabel: check.multi_label,
  };
  const { stride, maxTokens } = windowsOf(check, model.maxLength);
  const chunkOptions = {
    maxLength: CHARACTERS_OF_TOKEN * maxTokens,
    overlap: CHARACTERS_OF_TOKEN * stride,
    maxChunks: options.maxWindows ?? Number.POSITIVE_INFINITY,
  };
  const { hits, ...result } = await classifyInChunks(
    model,
    variants,
    request,
    chunkOptions,
    options,
  );
  const isReported = ({ label, score }: Hit): boolean =>
    score >= (check.labels[label] ?? Number.POSITIVE_INFINITY);
  return { ...result, hits: hits.filter(isReported) };
}

/** Returns the text after the last window of each truncated variant. */
function toUnread(
  variants: readonly TextVariant[],
  inferences: readonly Inference[],
): readonly UnreadText[] {
  return inferences.flatMap(({ truncated, places }, index) => {
    if (!truncated) return [];
    const start = places?.offsets.reduce((last, offset) => Math.max(last, offset), 0) ?? 0;
    return [{ variant: variants[index] as TextVariant, start }];
  });
}

/** Removes the prefix of a token label, as spans do. */
function withoutPrefix(label: string): string {
  return label.slice(label.indexOf('-') + 1);
}

/** Requires that the model has the labels of a check; other labels would never match. */
function requireLabels({ labels }: ModelCheck, modelLabels: readonly string[]): void {
  const unknown = Object.keys(labels ?? {}).find((label) => !modelLabels.includes(label));
  if (unknown === undefined) return;
  throw new ModelFileError(
    `The model has no label "${unknown}". Labels: ${modelLabels.slice(0, 20).join(', ')}.`,
  );
}

function meanOf(all: readonly Float32Array[]): Float32Array {
  return Float32Array.from(all[0] ?? [], (_, label) => {
    return all.reduce((sum, scores) => sum + (scores[label] as number), 0) / all.length;
  });
}
