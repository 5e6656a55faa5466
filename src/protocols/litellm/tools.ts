import type { Json } from './litellm-body';

const DESCRIPTION = 'description';

/** What tools and their parameters say of themselves: language models read it. */
export function descriptionsOf(tools: readonly Json[]): readonly string[] {
  const found: string[] = [];
  replaceDescriptions(tools, (text) => {
    found.push(text);
    return text;
  });
  return found;
}

/** The same tools. @param texts in the order of `descriptionsOf` */
export function withDescriptions(tools: readonly Json[], texts: readonly string[]): Json[] {
  const left = texts.values();
  return replaceDescriptions(tools, (text) => left.next().value ?? text) as Json[];
}

function replaceDescriptions(value: unknown, replaced: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => replaceDescriptions(one, replaced));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      key === DESCRIPTION && typeof one === 'string'
        ? replaced(one)
        : replaceDescriptions(one, replaced),
    ]),
  );
}
