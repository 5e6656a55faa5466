import { z } from 'zod';
import type { TokenMask } from './modules';

/** Characters of Python's `string.punctuation`. By default, these tokens get no embedding. */
export const PUNCTUATION = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'];

/** Default maximum lengths of PyLate, in tokens. */
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

/** Settings of a PyLate model, converted to the format of `MultiVectorEncoder`. */
export interface Pylate {
  readonly prompts: Readonly<Record<string, string>>;
  /** Prefixes of queries and documents, each a single token. */
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
 * Reads the settings of a PyLate model. PyLate adds one prefix token to queries and another to
 * documents, and pads queries to their maximum length with mask tokens.
 *
 * Source: PyLate, models/colbert.py; sentence-transformers, multi_vector_encoder/model.py
 * (_parse_model_config).
 *
 * @param prompts prompts in the settings, which follow the prefix token
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
