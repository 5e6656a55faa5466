import type { Inference, InferOptions } from '../../native/engine';
import type { ZeroShotRequest } from '../zero-shot/classify';
import type { ZeroShotClassifier } from '../zero-shot/zero-shot-classifier';
import type { CheckResult, Hit, TextVariant, UnreadText } from './scan';

/** Chunk of a text variant that the model reads separately. */
interface Chunk {
  readonly variant: TextVariant;
  readonly start: number;
  readonly end: number;
}

export interface ChunkOptions {
  /**
   * Initial length of a chunk in characters. Chunks that exceed the model's maximum length are
   * halved.
   */
  readonly maxLength: number;
  /** Overlap of consecutive chunks in characters. */
  readonly overlap: number;
  /** Maximum number of chunks per text variant. */
  readonly maxChunks: number;
}

/** Number of chunks per batch. */
const BATCH_SIZE = 16;
/** Minimum length of a chunk in characters. */
const MIN_LENGTH = 8;

/**
 * Runs zero-shot classification on whole texts. Texts longer than the model's maximum length are
 * split into overlapping chunks.
 */
export async function classifyInChunks(
  model: ZeroShotClassifier,
  variants: readonly TextVariant[],
  request: Omit<ZeroShotRequest, 'texts' | 'template'> & { readonly template: string | null },
  chunking: ChunkOptions,
  options: InferOptions,
): Promise<CheckResult> {
  const hits: Hit[] = [];
  const inferences: Inference[] = [];
  const unread = new Map<TextVariant, UnreadText>();
  const chunkCounts = new Map<TextVariant, number>();
  let pending = variants.flatMap((variant) =>
    split({ variant, start: 0, end: variant.text.length }, chunking.maxLength, chunking.overlap),
  );
  while (pending.length > 0) {
    const batch = pending.slice(0, BATCH_SIZE).filter((chunk) => {
      const count = (chunkCounts.get(chunk.variant) ?? 0) + 1;
      chunkCounts.set(chunk.variant, count);
      if (count > chunking.maxChunks) recordUnread(unread, chunk);
      return count <= chunking.maxChunks;
    });
    pending = pending.slice(BATCH_SIZE);
    const texts = batch.map(({ variant, start, end }) => variant.text.slice(start, end));
    const ran = await model.classifyLabels({ ...request, texts }, options);
    inferences.push(...ran.inferences);
    for (const [index, chunk] of batch.entries()) {
      const isCut = ran.isTruncated[index] ?? false;
      const halves = isCut ? halved(chunk, chunking.overlap) : [];
      pending.push(...halves);
      if (halves.length > 0) continue;
      if (isCut) recordUnread(unread, chunk);
      hits.push(...(ran.answers[index] ?? []).map((scored) => ({ ...chunk, ...scored })));
    }
  }
  return { hits, inferences, unread: [...unread.values()] };
}

/** Records the start of the first unread chunk of each text variant. */
function recordUnread(unread: Map<TextVariant, UnreadText>, { variant, start }: Chunk): void {
  const first = unread.get(variant);
  if (!first || start < first.start) unread.set(variant, { variant, start });
}

/** Halves a chunk; returns an empty array for chunks of minimum length. */
function halved(chunk: Chunk, overlap: number): readonly Chunk[] {
  const length = chunk.end - chunk.start;
  if (length < MIN_LENGTH) return [];
  const shared = Math.min(overlap, length >> 2);
  return split(chunk, (length + shared + 1) >> 1, shared);
}

/** Splits a span into chunks of at most `maxLength` characters, without splitting surrogate pairs. */
function split(
  { variant, start, end }: Chunk,
  maxLength: number,
  overlap: number,
): readonly Chunk[] {
  const chunks: Chunk[] = [];
  const step = Math.max(1, maxLength - overlap);
  for (let from = start; ; from += step) {
    const to = Math.min(end, from + maxLength);
    chunks.push({
      variant,
      start: wholeCharacter(variant.text, from),
      end: wholeCharacter(variant.text, to),
    });
    if (to === end) return chunks;
  }
}

function wholeCharacter(text: string, offset: number): number {
  const isWithin = offset > 0 && (text.codePointAt(offset - 1) as number) > 0xffff;
  return isWithin ? offset - 1 : offset;
}
