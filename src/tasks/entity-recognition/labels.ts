import type { EntityLabel } from './entities';

/** Maximum number of labels of a request. */
export const MAX_LABELS = 256;
/** Maximum length of a label or description in UTF-16 units. */
export const MAX_LABEL_LENGTH = 1000;

/**
 * Parses a JSON array of labels.
 *
 * @returns the labels, or the problem
 */
export function parseLabels(json: string): readonly EntityLabel[] | string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return 'expected a JSON array of labels, such as ["person", "city"]';
  }
  return findLabelProblem(value) ?? toLabels(value as readonly string[]);
}

/** Problem with a list of labels; null: it is valid. */
export function findLabelProblem(value: unknown): string | null {
  if (!Array.isArray(value)) return 'expected an array of labels';
  if (value.length === 0 || value.length > MAX_LABELS) {
    return `expected 1 to ${MAX_LABELS} labels, found ${value.length}`;
  }
  const wrong = value.findIndex((label) => typeof label !== 'string' || label.trim() === '');
  if (wrong >= 0) return `[${wrong}]: expected a label, which is a text`;
  const long = value.findIndex((label: string) => label.length > MAX_LABEL_LENGTH);
  return long < 0 ? null : `[${long}]: expected at most ${MAX_LABEL_LENGTH} characters`;
}

/** Labels by name: equal names are one label, as in gliner. */
export function toLabels(names: readonly string[]): readonly EntityLabel[] {
  return [...new Set(names)].map((name) => ({ name, prompt: name }));
}

/** Labels with descriptions, which the model reads instead of the names. */
export function toDescribedLabels(
  descriptions: Readonly<Record<string, string>>,
): readonly EntityLabel[] {
  return Object.entries(descriptions).map(([name, description]) => ({
    name,
    prompt: description,
    description,
  }));
}
