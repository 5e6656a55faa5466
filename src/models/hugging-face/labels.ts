import { z } from 'zod';
import { ModelFileError } from '../files';
import { quoted } from '../json';

const CONFIG = 'config.json';

/** More than any classifier has; to name that many takes 60 MB. */
const MAX_LABELS = 1_000_000;

/** What config.json says of a classifier's outputs. */
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
 * `id2label` decides, `num_labels` only where it is absent, and a configuration with neither has
 * two labels (transformers 5.23, configuration_utils.py, `PreTrainedConfig.__post_init__`).
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

/** Names of a classifier's outputs in order: `id2label`, and `LABEL_i` where it names none. */
export function labelNames(id2label: Labels, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => id2label?.[String(index)] ?? `LABEL_${index}`);
}

/** Entailment's name begins so. Source: transformers, pipelines/zero_shot_classification.py (`entailment_id`). */
const ENTAILMENT = /^entail/i;

/**
 * The output that says that a premise entails a hypothesis: the first one that `label2id` names so. transformers reads
 * no other table there, but makes `label2id` of `LABEL_i` where there is no `id2label`.
 *
 * @returns null: none is named so
 * @throws ModelFileError: it is no output
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
