import { z } from 'zod';
import type { TokenMask } from './modules';

/** What string.punctuation of Python holds: the tokens without a vector where nothing else is said. */
export const PUNCTUATION = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'];

/** As PyLate has them where nothing else is said. */
const LENGTHS = { query: 32, document: 180 };

const tokens = z.int().positive().nullish();

/** Entries of config_sentence_transformers.json. */
export const pylateSchema = z.looseObject({
  query_prefix: z.string().nullish(),
  document_prefix: z.string().nullish(),
  query_length: tokens,
  document_length: tokens,
  do_query_expansion: z.boolean().nullish(),
  attend_to_expansion_tokens: z.boolean().nullish(),
  attend_to_mask_tokens: z.boolean().nullish(),
  skiplist_words: z.array(z.string()).nullish(),
});

type Settings = z.output<typeof pylateSchema>;

/** A directory of PyLate in the words of one that `MultiVectorEncoder` has saved. */
export interface Pylate {
  readonly prompts: Readonly<Record<string, string>>;
  /** With what queries and documents begin: a token each. */
  readonly prefixes: readonly string[];
  readonly lengths: {
    readonly query_length?: number;
    readonly document_length: number;
    readonly query_expansion: {
      readonly strategy: 'fixed';
      readonly attend: boolean;
      readonly length: number;
    } | null;
  };
  readonly mask: TokenMask;
}

/**
 * PyLate puts a token before queries and another one before documents, and fills queries up to their length
 * with mask tokens.
 *
 * Source: PyLate, models/colbert.py; sentence-transformers, multi_vector_encoder/model.py (_parse_model_config).
 *
 * @param prompts that its settings name, which follow the token
 */
export function readPylate(settings: Settings, prompts: Readonly<Record<string, string>>): Pylate {
  const prefixes = {
    query: settings.query_prefix ?? '',
    document: settings.document_prefix ?? '',
  };
  const whole = Object.entries(prefixes).map(([role, prefix]) => {
    const prompt = prompts[role] ?? '';
    return [role, prompt.startsWith(prefix) ? prompt : prefix + prompt] as const;
  });
  const length = settings.query_length ?? LENGTHS.query;
  const attend = settings.attend_to_expansion_tokens ?? settings.attend_to_mask_tokens ?? false;
  const document_length = settings.document_length ?? LENGTHS.document;
  const fills = settings.do_query_expansion ?? true;
  return {
    prompts: { ...prompts, ...Object.fromEntries(whole) },
    prefixes: Object.values(prefixes).filter((prefix) => prefix.trim() !== ''),
    lengths: fills
      ? { document_length, query_expansion: { strategy: 'fixed', attend, length } }
      : { document_length, query_length: length, query_expansion: null },
    mask: { skipped: settings.skiplist_words ?? PUNCTUATION, tasks: ['document'] },
  };
}
