import type { Inference, InferOptions } from '../../native/engine';
import type { EntailmentClassifier } from '../capabilities';
import { classifyZeroShot, type ZeroShotRequest } from '../zero-shot/classify';
import type { CheckResult, Hit, UnreadText } from './check-result';
import type { TextVariant } from './text-variants';

/** A part of a look that is asked about by itself. */
interface Chunk {
  readonly variant: TextVariant;
  readonly start: number;
  readonly end: number;
}

export interface ChunkOptions {
  /** Characters of one: it is halved where it is still too long. */
  readonly maxLength: number;
  /** Characters that neighbours share. */
  readonly overlap: number;
  /** Of one look, at most. */
  readonly maxChunks: number;
}

/** Pieces that are asked about together. */
const BATCH_SIZE = 16;
/** In characters. */
const MIN_LENGTH = 8;

/**
 * Asks an entailment model about all of each text: one that is longer than the model takes beside a
 * hypothesis in pieces that share characters.
 */
export async function classifyInChunks(
  model: EntailmentClassifier,
  looks: readonly TextVariant[],
  question: Omit<ZeroShotRequest, 'texts'>,
  pieces: ChunkOptions,
  options: InferOptions,
): Promise<CheckResult> {
  const hits: Hit[] = [];
  const inferences: Inference[] = [];
  const unread = new Map<TextVariant, UnreadText>();
  const asked = new Map<TextVariant, number>();
  let waiting = looks.flatMap((look) =>
    split({ variant: look, start: 0, end: look.text.length }, pieces.maxLength, pieces.overlap),
  );
  while (waiting.length > 0) {
    const now = waiting.slice(0, BATCH_SIZE).filter((piece) => {
      const count = (asked.get(piece.variant) ?? 0) + 1;
      asked.set(piece.variant, count);
      if (count > pieces.maxChunks) leave(unread, piece);
      return count <= pieces.maxChunks;
    });
    waiting = waiting.slice(BATCH_SIZE);
    const texts = now.map(({ variant: look, start, end }) => look.text.slice(start, end));
    const ran = await classifyZeroShot(model, { ...question, texts }, options);
    inferences.push(...ran.inferences);
    for (const [index, piece] of now.entries()) {
      const { length } = question.labels;
      const own = ran.inferences.slice(index * length, (index + 1) * length);
      const isCut = own.some(({ truncated }) => truncated);
      const halves = isCut ? halved(piece, pieces.overlap) : [];
      waiting.push(...halves);
      if (halves.length > 0) continue;
      if (isCut) leave(unread, piece);
      hits.push(...(ran.answers[index] ?? []).map((one) => ({ ...piece, ...one })));
    }
  }
  return { hits, inferences, unread: [...unread.values()] };
}

/** Of each look from where on the first piece was not read. */
function leave(unread: Map<TextVariant, UnreadText>, { variant: look, start }: Chunk): void {
  const known = unread.get(look);
  if (!known || start < known.start) unread.set(look, { variant: look, start });
}

/** Nothing: it is as short as may be. */
function halved(piece: Chunk, overlap: number): readonly Chunk[] {
  const length = piece.end - piece.start;
  if (length < MIN_LENGTH) return [];
  const shared = Math.min(overlap, length >> 2);
  return split(piece, (length + shared + 1) >> 1, shared);
}

/** Into pieces that are no longer than that, none of which ends within a character. */
function split(
  { variant: look, start, end }: Chunk,
  longest: number,
  overlap: number,
): readonly Chunk[] {
  const pieces: Chunk[] = [];
  const step = Math.max(1, longest - overlap);
  for (let from = start; ; from += step) {
    const to = Math.min(end, from + longest);
    pieces.push({ variant: look, start: whole(look.text, from), end: whole(look.text, to) });
    if (to === end) return pieces;
  }
}

function whole(text: string, place: number): number {
  const isWithin = place > 0 && (text.codePointAt(place - 1) as number) > 0xffff;
  return isWithin ? place - 1 : place;
}
