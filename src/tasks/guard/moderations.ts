import { z } from 'zod';

/** Categories of OpenAI's moderations API, in response order. */
export const CATEGORIES = [
  'harassment',
  'harassment/threatening',
  'sexual',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm/intent',
  'self-harm/instructions',
  'self-harm',
  'sexual/minors',
  'violence',
  'violence/graphic',
] as const;

export type Category = (typeof CATEGORIES)[number];

const source = z.strictObject({
  check: z.string().describe('Name of a check'),
  label: z.string().describe('Label of the check'),
});

/**
 * Section `moderations` of a guardrail policy: labels of checks by category of POST
 * /v1/moderations.
 */
export const moderations = z
  .strictObject({
    categories: z
      .partialRecord(z.enum(CATEGORIES), z.union([source, z.array(source).min(1)]))
      .refine((given) => Object.keys(given).length > 0, { error: 'expected at least one category' })
      .describe('One or more labels by category'),
  })
  .describe('Categories of POST /v1/moderations. Unlisted categories are false with the score 0');

export type Moderations = z.output<typeof moderations>;
export type Source = z.output<typeof source>;

/** Returns all pairs of category and label. */
export function sourcesOf({
  categories,
}: Moderations): readonly (Source & { readonly category: Category })[] {
  return CATEGORIES.flatMap((category) =>
    [categories[category] ?? []].flat().map((source) => ({ ...source, category })),
  );
}

/**
 * Finds labels that no check reports.
 *
 * @param labels labels of each check by check name; null: any label of the model
 */
export function findUnmapped(
  given: Moderations | undefined,
  labels: ReadonlyMap<string, readonly string[] | null>,
): readonly { readonly path: readonly string[]; readonly message: string }[] {
  if (!given) return [];
  return sourcesOf(given).flatMap(({ category, check, label }) => {
    const path = ['categories', category];
    const checkLabels = labels.get(check);
    if (checkLabels === undefined) return [{ path, message: `there is no check "${check}"` }];
    if (checkLabels === null || checkLabels.includes(label)) return [];
    return [
      { path, message: `"${check}" does not find "${label}". Labels: ${checkLabels.join(', ')}` },
    ];
  });
}
