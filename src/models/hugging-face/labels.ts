import { z } from 'zod';

/** More than any classifier has; to name that many takes 60 MB. */
const MOST_LABELS = 1_000_000;

/** What config.json says of a classifier's outputs. */
export const labelConfig = {
  num_labels: z.int().positive().max(MOST_LABELS).nullish(),
  id2label: z
    .record(z.string().regex(/^\d+$/, 'expected numeric keys'), z.string())
    .refine((labels) => Object.keys(labels).length > 0, 'names no labels')
    .nullish(),
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
