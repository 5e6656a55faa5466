import { ModelFileError } from '../../models/files';
import type { Inference, InferOptions } from '../../native/engine';
import type { EntailmentClassifier, TextClassifier, TokenClassifier } from '../capabilities';
import { toSpans } from '../token-classification/spans';
import type { CheckResult, Hit, UnreadText } from './check-result';
import type { ModelCheck } from './guard-file';
import type { GuardModels } from './guard-result';
import type { InferenceMemo } from './inference-memo';
import type { TextVariant } from './text-variants';
import { classifyInChunks } from './zero-shot-chunks';

type Of<Type> = Extract<ModelCheck, { readonly type: Type }>;

/** Tokens that windows share. */
const STRIDE = 64;
/** At most, in most texts. */
const CHARACTERS_OF_TOKEN = 4;

/** What the model checks of a request share. */
export interface CheckContext {
  readonly models: GuardModels;
  readonly asked: InferenceMemo;
  /** Limits of the request. */
  readonly within: (options: InferOptions) => InferOptions;
}

interface ResolvedModel<Model> {
  readonly model: Model;
  readonly options: InferOptions;
  readonly asked: InferenceMemo;
}

/** @throws Error: the model is not there, refuses or fails */
export async function runModelCheck(
  check: ModelCheck,
  looks: readonly TextVariant[],
  { models, asked, within }: CheckContext,
): Promise<CheckResult> {
  switch (check.type) {
    case 'text-classification': {
      const { model, options } = models.find(check.model, 'text-classification');
      return classify(check, looks, { model, asked, options: within(options) });
    }
    case 'token-classification': {
      const { model, options } = models.find(check.model, 'token-classification');
      return tag(check, looks, { model, asked, options: within(options) });
    }
    case 'zero-shot-classification': {
      const { model, options } = models.find(check.model, 'zero-shot');
      return choose(check, looks, model, within(options));
    }
  }
}

/** How a model reads what is longer than a window. */
function windowsOf({ long_texts: { window, stride } }: ModelCheck, maxLength: number) {
  const maxTokens = Math.min(window ?? maxLength, maxLength);
  return { maxTokens, stride: stride ?? Math.min(STRIDE, Math.floor(maxTokens / 4)) };
}

async function classify(
  check: Of<'text-classification'>,
  looks: readonly TextVariant[],
  { model, options, asked }: ResolvedModel<TextClassifier>,
): Promise<CheckResult> {
  const { labels: known } = model.metadata;
  requireLabels(check, known);
  const reading = { places: true, ...windowsOf(check, model.maxLength) } as const;
  const answers = await asked.runAll(model, looks, reading, options);
  const hits = answers.flatMap(({ windows = [] }, index): Hit[] => {
    const variant = looks[index] as TextVariant;
    const all = { start: 0, end: variant.text.length };
    const combined = check.long_texts.combine === 'mean' && windows.length > 1;
    const read = combined
      ? [{ ...all, scores: meanOf(windows.map(({ scores }) => scores)) }]
      : windows;
    return read.flatMap(({ start, end, scores }) =>
      Object.entries(check.labels).flatMap(([label, threshold]) => {
        const score = scores[known.indexOf(label)] as number;
        if (score < threshold) return [];
        return [{ variant, label, score, ...(windows.length > 1 ? { start, end } : all) }];
      }),
    );
  });
  const inferences = answers.map(({ inference }) => inference);
  return { hits, inferences, unread: toUnread(looks, inferences) };
}

async function tag(
  check: Of<'token-classification'>,
  looks: readonly TextVariant[],
  { model, options, asked }: ResolvedModel<TokenClassifier>,
): Promise<CheckResult> {
  const { labels: wanted, threshold } = check;
  const strategy = check.aggregation_strategy;
  const plain =
    strategy === 'none' ? model.metadata.labels : model.metadata.labels.map(withoutPrefix);
  requireLabels(check, plain);
  const answers = await asked.runAll(model, looks, windowsOf(check, model.maxLength), options);
  const hits: Hit[] = [];
  for (const [index, answer] of answers.entries()) {
    for (const { label, score, start, end } of await toSpans(answer, model, { strategy })) {
      const least = wanted ? wanted[label] : threshold;
      if (least === undefined || score < least) continue;
      hits.push({ variant: looks[index] as TextVariant, label, score, start, end });
    }
  }
  const inferences = answers.map(({ inference }) => inference);
  return { hits, inferences, unread: toUnread(looks, inferences) };
}

async function choose(
  check: Of<'zero-shot-classification'>,
  looks: readonly TextVariant[],
  model: EntailmentClassifier,
  options: InferOptions,
): Promise<CheckResult> {
  const question = {
    labels: check.candidate_labels,
    template: check.hypothesis_template,
    isMultiLabel: check.multi_label,
  };
  const { stride, maxTokens } = windowsOf(check, model.maxLength);
  const pieces = {
    maxLength: CHARACTERS_OF_TOKEN * maxTokens,
    overlap: CHARACTERS_OF_TOKEN * stride,
    maxChunks: options.maxWindows ?? Number.POSITIVE_INFINITY,
  };
  const { hits, ...ran } = await classifyInChunks(model, looks, question, pieces, options);
  const counts = ({ label, score }: Hit): boolean =>
    score >= (check.labels[label] ?? Number.POSITIVE_INFINITY);
  return { ...ran, hits: hits.filter(counts) };
}

/** What lies behind the last window of texts that have more than may be read. */
function toUnread(
  looks: readonly TextVariant[],
  inferences: readonly Inference[],
): readonly UnreadText[] {
  return inferences.flatMap(({ truncated, places }, index) => {
    if (!truncated) return [];
    const start = places?.offsets.reduce((last, place) => Math.max(last, place), 0) ?? 0;
    return [{ variant: looks[index] as TextVariant, start }];
  });
}

/** As spans have them. */
function withoutPrefix(label: string): string {
  return label.slice(label.indexOf('-') + 1);
}

/** A label that the model does not have would never be found. */
function requireLabels({ labels }: ModelCheck, known: readonly string[]): void {
  const other = Object.keys(labels ?? {}).find((label) => !known.includes(label));
  if (other === undefined) return;
  throw new ModelFileError(
    `The model has no label "${other}": it has ${known.slice(0, 20).join(', ')}.`,
  );
}

function meanOf(all: readonly Float32Array[]): Float32Array {
  return Float32Array.from(all[0] ?? [], (_, label) => {
    return all.reduce((sum, scores) => sum + (scores[label] as number), 0) / all.length;
  });
}
