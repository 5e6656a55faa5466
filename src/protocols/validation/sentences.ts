import { listOf, object, string } from './fields';

/** A sentence, and those that it is compared with. */
export const sentencesToCompare = object({
  source_sentence: string(),
  sentences: listOf<string>('a list of strings', (value) =>
    typeof value === 'string' ? null : { message: 'expected a string', path: [] },
  ).meta({ type: 'array', items: { type: 'string' } }),
});
