import { z } from 'zod';

/** Those of OpenAI's moderations, in the order of its answers. */
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
  label: z.string().describe('That it finds'),
});

/** Which labels of which checks are which category of POST /v1/moderations. */
export const moderations = z
  .strictObject({
    categories: z
      .partialRecord(z.enum(CATEGORIES), z.union([source, z.array(source).min(1)]))
      .refine((given) => Object.keys(given).length > 0, { error: 'expected at least one category' })
      .describe('By category a label, or several of which any will do'),
  })
  .describe('What POST /v1/moderations answers: a category that is not named is false and 0');

export type Moderations = z.output<typeof moderations>;
export type Source = z.output<typeof source>;

/** All pairs of a category and a label. */
export function sourcesOf({
  categories,
}: Moderations): readonly (Source & { readonly category: Category })[] {
  return CATEGORIES.flatMap((category) =>
    [categories[category] ?? []].flat().map((one) => ({ ...one, category })),
  );
}

/**
 * Labels that nothing finds.
 *
 * @param labels by the name of a check what it finds; null: any label of its model
 */
export function findUnmapped(
  given: Moderations | undefined,
  labels: ReadonlyMap<string, readonly string[] | null>,
): readonly { readonly path: readonly string[]; readonly message: string }[] {
  if (!given) return [];
  return sourcesOf(given).flatMap(({ category, check, label }) => {
    const path = ['categories', category];
    const known = labels.get(check);
    if (known === undefined) return [{ path, message: `there is no check "${check}"` }];
    if (known === null || known.includes(label)) return [];
    return [{ path, message: `"${check}" finds no "${label}": it finds ${known.join(', ')}` }];
  });
}
