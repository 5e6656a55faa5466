import { z } from 'zod';
import { ModelFileError } from '../files';
import { quoted } from '../json';

const CONFIG = 'config.json';

/** Maximum number of labels. A table of this size takes 60 MB. */
const MAX_LABELS = 1_000_000;

/** Keys of config.json that describe the outputs of a classifier. */
export const labelConfig = {
  num_labels: z.int().positive().max(MAX_LABELS).nullish(),
  id2label: z
    .record(z.string().regex(/^\d+$/, 'expected numeric keys'), z.string())
    .refine((labels) => Object.keys(labels).length > 0, 'names no labels')
    .nullish(),
  label2id: z.record(z.string(), z.unknown()).nullish(),
};

type Labels = Readonly<Record<string, string>> | null | undefined;

/**
 * Counts the labels of a classifier: the entries of `id2label`, else `num_labels`, else 2.
 *
 * Source: transformers 5.23, configuration_utils.py, `PreTrainedConfig.__post_init__`.
 */
export function countLabels({
  id2label,
  num_labels,
}: {
  readonly id2label?: Labels;
  readonly num_labels?: number | null | undefined;
}): number {
  return id2label ? Object.keys(id2label).length : (num_labels ?? 2);
}

/**
 * Returns the label names in output order: the names in `id2label`, `LABEL_i` for missing entries.
 */
export function labelNames(id2label: Labels, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => id2label?.[String(index)] ?? `LABEL_${index}`);
}

/**
 * Pattern of the entailment label. Source: transformers, pipelines/zero_shot_classification.py
 * (`entailment_id`).
 */
const ENTAILMENT = /^entail/i;

/**
 * Finds the entailment output of an NLI model: the first matching label of `label2id`, the only
 * table that transformers reads. Without `id2label`, transformers replaces `label2id` with
 * `LABEL_i`.
 *
 * @returns index of the output; null if no label matches
 * @throws ModelFileError if `label2id` names an invalid output
 */
export function findEntailmentOutput({
  id2label,
  label2id,
  count,
}: {
  readonly id2label?: Labels;
  readonly label2id?: Readonly<Record<string, unknown>> | null | undefined;
  readonly count: number;
}): number | null {
  if (!id2label) return null;
  if (!label2id) {
    const found = labelNames(id2label, count).findIndex((label) => ENTAILMENT.test(label));
    return found < 0 ? null : found;
  }
  const named = Object.entries(label2id).find(([label]) => ENTAILMENT.test(label));
  if (named === undefined) return null;
  const [label, output] = named;
  if (Number.isInteger(output) && (output as number) >= 0 && (output as number) < count) {
    return output as number;
  }
  const expected = `expected an output from 0 to ${count - 1}`;
  throw new ModelFileError(
    `${CONFIG}: label2id: ${quoted(label)}: ${expected}, found ${quoted(output)}`,
  );
}
