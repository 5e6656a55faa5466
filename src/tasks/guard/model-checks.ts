import { ModelFileError } from '../../models/files';
import type { Inference, InferOptions } from '../../native/engine';
import type { EntailmentClassifier, TextClassifier, TokenClassifier } from '../abilities';
import { spansOf } from '../token-classification/spans';
import type { GuardModels } from './answer';
import type { Asked } from './asked';
import type { ModelCheck } from './file';
import type { Look } from './looks';
import type { Hit, Ran, Unread } from './ran';
import { chooseInPieces } from './zero-shot-pieces';

type Of<Type> = Extract<ModelCheck, { readonly type: Type }>;

/** Tokens that windows share. */
const STRIDE = 64;
/** At most, in most texts. */
const CHARACTERS_OF_TOKEN = 4;

/** What the model checks of a request share. */
export interface Asking {
  readonly models: GuardModels;
  readonly asked: Asked;
  /** Limits of the request. */
  readonly within: (options: InferOptions) => InferOptions;
}

interface Found<Model> {
  readonly model: Model;
  readonly options: InferOptions;
  readonly asked: Asked;
}

/** @throws Error: the model is not there, refuses or fails */
export async function runModelCheck(
  check: ModelCheck,
  looks: readonly Look[],
  { models, asked, within }: Asking,
): Promise<Ran> {
  switch (check.type) {
    case 'text-classification': {
      const { model, options } = models.find(check.model, 'classifies texts');
      return classify(check, looks, { model, asked, options: within(options) });
    }
    case 'token-classification': {
      const { model, options } = models.find(check.model, 'tags texts');
      return tag(check, looks, { model, asked, options: within(options) });
    }
    case 'zero-shot-classification': {
      const { model, options } = models.find(check.model, 'entails');
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
  looks: readonly Look[],
  { model, options, asked }: Found<TextClassifier>,
): Promise<Ran> {
  const { labels: known } = model.metadata;
  requireLabels(check, known);
  const reading = { places: true, ...windowsOf(check, model.maxLength) } as const;
  const answers = await asked.runAll(model, looks, reading, options);
  const hits = answers.flatMap(({ windows = [] }, index): Hit[] => {
    const look = looks[index] as Look;
    const all = { start: 0, end: look.text.length };
    const combined = check.long_texts.combine === 'mean' && windows.length > 1;
    const read = combined
      ? [{ ...all, scores: meanOf(windows.map(({ scores }) => scores)) }]
      : windows;
    return read.flatMap(({ start, end, scores }) =>
      Object.entries(check.labels).flatMap(([label, threshold]) => {
        const score = scores[known.indexOf(label)] as number;
        if (score < threshold) return [];
        return [{ look, label, score, ...(windows.length > 1 ? { start, end } : all) }];
      }),
    );
  });
  const inferences = answers.map(({ inference }) => inference);
  return { hits, inferences, unread: unreadOf(looks, inferences) };
}

async function tag(
  check: Of<'token-classification'>,
  looks: readonly Look[],
  { model, options, asked }: Found<TokenClassifier>,
): Promise<Ran> {
  const { labels: wanted, threshold } = check;
  const strategy = check.aggregation_strategy;
  const plain =
    strategy === 'none' ? model.metadata.labels : model.metadata.labels.map(withoutPrefix);
  requireLabels(check, plain);
  const answers = await asked.runAll(model, looks, windowsOf(check, model.maxLength), options);
  const hits: Hit[] = [];
  for (const [index, answer] of answers.entries()) {
    for (const { label, score, start, end } of await spansOf(answer, model, { strategy })) {
      const least = wanted ? wanted[label] : threshold;
      if (least === undefined || score < least) continue;
      hits.push({ look: looks[index] as Look, label, score, start, end });
    }
  }
  const inferences = answers.map(({ inference }) => inference);
  return { hits, inferences, unread: unreadOf(looks, inferences) };
}

async function choose(
  check: Of<'zero-shot-classification'>,
  looks: readonly Look[],
  model: EntailmentClassifier,
  options: InferOptions,
): Promise<Ran> {
  const question = {
    labels: check.candidate_labels,
    template: check.hypothesis_template,
    isMultiLabel: check.multi_label,
  };
  const { stride, maxTokens } = windowsOf(check, model.maxLength);
  const pieces = {
    longest: CHARACTERS_OF_TOKEN * maxTokens,
    overlap: CHARACTERS_OF_TOKEN * stride,
    most: options.mostWindows ?? Number.POSITIVE_INFINITY,
  };
  const { hits, ...ran } = await chooseInPieces(model, looks, question, pieces, options);
  const counts = ({ label, score }: Hit): boolean =>
    score >= (check.labels[label] ?? Number.POSITIVE_INFINITY);
  return { ...ran, hits: hits.filter(counts) };
}

/** What lies behind the last window of texts that have more than may be read. */
function unreadOf(looks: readonly Look[], inferences: readonly Inference[]): readonly Unread[] {
  return inferences.flatMap(({ truncated, places }, index) => {
    if (!truncated) return [];
    const start = places?.offsets.reduce((last, place) => Math.max(last, place), 0) ?? 0;
    return [{ look: looks[index] as Look, start }];
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
