/** Content of a pair in a text. */
export interface PairField {
  readonly field: 'query' | 'document';
  /** Whether whitespace at the start and the end of the content is removed. */
  readonly trimsStart: boolean;
  readonly trimsEnd: boolean;
}

/** Text that consists of fixed parts and the contents of a pair. */
export type TextTemplate = readonly (string | PairField)[];

/** One or two texts that a model reads of a query and a document. */
export type PairTemplate = readonly [TextTemplate] | readonly [TextTemplate, TextTemplate];

/** Field whose content is not changed. */
export function field(name: PairField['field']): PairField {
  return { field: name, trimsStart: false, trimsEnd: false };
}

/** Inserts the contents of a pair. */
export function fillTemplate(template: TextTemplate, query: string, document: string): string {
  const contents = { query, document };
  return template
    .map((part) => (typeof part === 'string' ? part : trimmed(contents[part.field], part)))
    .join('');
}

/** Whether Python's `str.strip` removes a character. */
function isSpace(character: string): boolean {
  return /(?!\ufeff)\s/.test(character) || '\x1c\x1d\x1e\x1f\x85'.includes(character);
}

function trimmed(content: string, { trimsStart, trimsEnd }: PairField): string {
  let start = 0;
  let end = content.length;
  while (trimsStart && start < end && isSpace(content.charAt(start))) start += 1;
  while (trimsEnd && end > start && isSpace(content.charAt(end - 1))) end -= 1;
  return content.slice(start, end);
}
