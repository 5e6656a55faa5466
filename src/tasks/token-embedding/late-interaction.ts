import { z } from 'zod';
import { ModelFileError } from '../../models/files';
import { checkModelJson, readModelJson } from '../../models/json';
import { tokenizerFolder } from '../../models/peft/adapter';
import type { SentenceModel } from '../../models/sentence-transformers/model';
import type { LateInteraction, TextModelSource } from '../../native/engine';
import type { TokenEmbeddingMetadata } from '../capabilities';

/** What the engine is told of a text as `encode_query`, `encode_document` and `encode` read it. */
export type Roles = NonNullable<TokenEmbeddingMetadata['roles']>;
export type Role = keyof Roles;

/** How a model of late interaction (ColBERT) reads queries and documents. */
export interface LateInteractionSettings {
  readonly interaction: LateInteraction;
  /** Tokens of the longest text in any role; null: tokenizer and model say. */
  readonly maxLength: number | null;
  readonly roles: Roles;
}

const SETTINGS = 'sentence_bert_config.json';

/**
 * Source: sentence-transformers, base/modules/transformer.py (preprocess) and
 * multi_vector_encoder/modules/multi_vector_mask.py.
 *
 * @returns null: it reads all texts alike
 * @throws ModelFileError
 */
export function readLateInteraction({
  source,
  sentence,
}: SentenceModel): LateInteractionSettings | null {
  if (sentence === null) return null;
  const { lengths, mask, maxLength, prefixes } = sentence;
  const { query_length: query, document_length: document, query_expansion: expansion } = lengths;
  if (mask === null) return null;
  const most = (tokens: number | null | undefined) => (tokens == null ? {} : { maxTokens: tokens });
  const skips = (role: string) => ({ skips: mask.tasks.includes(role) });
  const queries = expansion
    ? { ...most(lengthOfQueries(expansion, query ?? maxLength)), fills: true }
    : most(query ?? maxLength);
  const longest = [query, document, maxLength, expansion?.length].filter((one) => one != null);
  if (expansion) requireRightPadding(sentence.encoder);
  if (expansion && !expansion.attend) requireUnseen(source);
  return {
    interaction: {
      ...(expansion && {
        filledLength: expansion.length,
        ...(expansion.token != null && { fillingToken: expansion.token }),
        fillingIsSeen: expansion.attend ?? false,
      }),
      skipped: mask.skipped,
      prefixes,
    },
    maxLength: maxLength === null ? null : Math.max(...longest),
    roles: {
      query: { ...queries, ...skips('query') },
      document: { ...most(document ?? maxLength), ...skips('document') },
      text: { ...most(maxLength), ...skips('document') },
    },
  };
}

/** "fixed" cuts queries to the length that they are filled up to, "min" does not. */
function lengthOfQueries(
  { strategy, length }: { readonly strategy: 'fixed' | 'min'; readonly length: number },
  others: number | null,
): number | null {
  if (strategy === 'fixed') return length;
  return others === null ? null : Math.max(others, length);
}

/** @throws ModelFileError: queries would be filled up at the other end */
function requireRightPadding(encoder: string): void {
  const name = 'tokenizer_config.json';
  const schema = z.looseObject({ padding_side: z.string().nullish() });
  const { padding_side: side } = checkModelJson(
    name,
    schema,
    readModelJson(tokenizerFolder(encoder), name) ?? {},
  );
  if (side == null || side === 'right') return;
  const what = `padding_side: "${side}" is not supported with query_expansion: expected "right"`;
  throw new ModelFileError(`${name}: ${what}`);
}

/** @throws ModelFileError: tokens that none attends to would be read otherwise */
function requireUnseen({ modelType }: TextModelSource): void {
  if (modelType !== 'deberta-v2') return;
  const key = `${SETTINGS}: query_expansion`;
  throw new ModelFileError(`${key}: attend: false is not supported for "${modelType}"`);
}
