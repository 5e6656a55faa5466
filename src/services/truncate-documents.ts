import { mapInTimeSlices } from '../lib/time-slice';
import type { InferOptions, Tokenization } from '../native/engine';
import { ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import type { PairScorer, TextTokenizer } from '../tasks/capabilities';
import { type ServedModel, withCapability } from '../tasks/served-model';
import { requireModel } from './inference';

/** Maximum number of token boundaries at which the server tries to end a document. */
const MAX_BOUNDARIES = 16;

type DocumentTokens = Pick<Tokenization, 'ids' | 'offsets'>;

/** A document with more tokens than it may have. */
interface LongDocument {
  readonly index: number;
  readonly text: string;
  /** Tokens of the whole document. Offsets are in bytes of UTF-8. */
  readonly tokens: DocumentTokens;
}

/**
 * Truncates documents to a number of tokens, without special tokens. A document ends at the last token boundary at which
 * the truncated text has the same tokens as the document up to there.
 *
 * @param maxTokens maximum number of tokens of a document; null: no limit
 * @param field name of the list in the request, for errors
 * @returns the documents, and whether one was truncated
 * @throws ServiceError BODY_INVALID: no boundary, or a model whose tokens are unknown; EngineError
 */
export async function truncateDocuments(
  caller: Pick<ServiceRequest, 'inferOptions'>,
  served: ServedModel<PairScorer>,
  {
    documents,
    maxTokens,
    field,
  }: {
    readonly documents: readonly string[];
    readonly maxTokens: number | null;
    readonly field: string;
  },
): Promise<{ readonly texts: readonly string[]; readonly isTruncated: boolean }> {
  const { maxLength } = requireModel(served.model);
  if (maxTokens === null || maxTokens >= maxLength) return { texts: documents, isTruncated: false };
  const tokenizer = withCapability(served as ServedModel<unknown> as ServedModel, 'tokenization');
  const model = tokenizer?.model;
  if (!model?.vocabulary) {
    const problem = `expected at least ${maxLength}, the maximum input length of this model`;
    throw new ServiceError('BODY_INVALID', `max_tokens_per_doc: ${problem}. Raise the value`);
  }
  const options = caller.inferOptions(served);
  const tokenized = await tokenize(model, documents, options);
  let long = documents.flatMap((text, index): LongDocument[] => {
    const tokens = tokenized[index] as DocumentTokens;
    return tokens.ids.length > maxTokens ? [{ index, text, tokens }] : [];
  });
  if (long.length === 0) return { texts: documents, isTruncated: false };
  const texts = [...documents];
  const last = Math.max(maxTokens - MAX_BOUNDARIES, 0);
  for (let count = maxTokens; count > last && long.length > 0; count--) {
    const cut = await mapInTimeSlices(long, (document) => textOfFirst(document, count));
    const found = await tokenize(model, cut, options);
    long = long.filter(({ index, tokens: { ids } }, position) => {
      const isSame = haveEqualIds(found[position]?.ids, ids.subarray(0, count));
      if (isSame) texts[index] = cut[position] as string;
      return !isSame;
    });
  }
  const [left] = long;
  if (left === undefined) return { texts, isTruncated: true };
  const problem = `cannot be truncated to ${maxTokens} tokens without changing its tokens`;
  const fix = 'Raise max_tokens_per_doc, or send a shorter document';
  throw new ServiceError('BODY_INVALID', `${field}[${left.index}]: ${problem}. ${fix}`);
}

async function tokenize(
  model: TextTokenizer,
  texts: readonly string[],
  options: InferOptions,
): Promise<readonly DocumentTokens[]> {
  const inferences = await model.tokenize(texts, false, options);
  return inferences.map(({ places }) => places as Tokenization);
}

/** The document up to the end of its first `count` tokens. */
function textOfFirst({ text, tokens: { offsets } }: LongDocument, count: number): string {
  return Buffer.from(text).toString('utf8', 0, offsets[2 * count - 1]);
}

function haveEqualIds(found: Uint32Array | undefined, wanted: Uint32Array): boolean {
  return found?.length === wanted.length && wanted.every((id, i) => found[i] === id);
}
