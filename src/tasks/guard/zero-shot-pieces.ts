import type { Inference, InferOptions } from '../../native/engine';
import type { EntailmentClassifier } from '../abilities';
import { classifyZeroShot, type ZeroShotQuestion } from '../zero-shot/classify';
import type { Look } from './looks';
import type { Hit, Ran, Unread } from './ran';

/** A part of a look that is asked about by itself. */
interface Piece {
  readonly look: Look;
  readonly start: number;
  readonly end: number;
}

export interface Pieces {
  /** Characters of one: it is halved where it is still too long. */
  readonly longest: number;
  /** Characters that neighbours share. */
  readonly overlap: number;
  /** Of one look, at most. */
  readonly most: number;
}

/** Pieces that are asked about together. */
const AT_ONCE = 16;
/** In characters. */
const SHORTEST = 8;

/**
 * Asks an entailment model about all of each text: one that is longer than the model takes beside a
 * hypothesis in pieces that share characters.
 */
export async function chooseInPieces(
  model: EntailmentClassifier,
  looks: readonly Look[],
  question: Omit<ZeroShotQuestion, 'texts'>,
  pieces: Pieces,
  options: InferOptions,
): Promise<Ran> {
  const hits: Hit[] = [];
  const inferences: Inference[] = [];
  const unread = new Map<Look, Unread>();
  const asked = new Map<Look, number>();
  let waiting = looks.flatMap((look) =>
    cut({ look, start: 0, end: look.text.length }, pieces.longest, pieces.overlap),
  );
  while (waiting.length > 0) {
    const now = waiting.slice(0, AT_ONCE).filter((piece) => {
      const count = (asked.get(piece.look) ?? 0) + 1;
      asked.set(piece.look, count);
      if (count > pieces.most) leave(unread, piece);
      return count <= pieces.most;
    });
    waiting = waiting.slice(AT_ONCE);
    const texts = now.map(({ look, start, end }) => look.text.slice(start, end));
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
function leave(unread: Map<Look, Unread>, { look, start }: Piece): void {
  const known = unread.get(look);
  if (!known || start < known.start) unread.set(look, { look, start });
}

/** Nothing: it is as short as may be. */
function halved(piece: Piece, overlap: number): readonly Piece[] {
  const length = piece.end - piece.start;
  if (length < SHORTEST) return [];
  const shared = Math.min(overlap, length >> 2);
  return cut(piece, (length + shared + 1) >> 1, shared);
}

/** Into pieces that are no longer than that, none of which ends within a character. */
function cut({ look, start, end }: Piece, longest: number, overlap: number): readonly Piece[] {
  const pieces: Piece[] = [];
  const step = Math.max(1, longest - overlap);
  for (let from = start; ; from += step) {
    const to = Math.min(end, from + longest);
    pieces.push({ look, start: whole(look.text, from), end: whole(look.text, to) });
    if (to === end) return pieces;
  }
}

function whole(text: string, place: number): number {
  const isWithin = place > 0 && (text.codePointAt(place - 1) as number) > 0xffff;
  return isWithin ? place - 1 : place;
}
