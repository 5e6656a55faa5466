/** Names of a classifier's outputs in order: `id2label`, and `LABEL_i` where it names none. */
export function labelNames(
  id2label: Readonly<Record<string, string>> | null | undefined,
  count: number,
): readonly string[] {
  return Array.from({ length: count }, (_, index) => id2label?.[String(index)] ?? `LABEL_${index}`);
}
