import type { Candidates } from '../entity-recognition/entities';
import { type Candidate, SpanRows } from '../entity-recognition/span-rows';

/**
 * Removes the period that gliner2 adds to a text from the candidates: the word after the last one. A candidate of this
 * word alone is not in the text. Of two candidates that differ only in this word, the one with the higher score counts.
 */
export function withoutAddedPeriod(answer: Candidates): Candidates {
  const { candidates, inference } = answer;
  const words = (inference.words?.offsets.length ?? 0) / 2;
  if (candidates === null) return answer;
  const all = Array.from({ length: candidates.length }, (_, row) => candidates.at(row));
  if (!all.some(({ last }) => last >= words)) return answer;
  const best = new Map<string, Candidate>();
  for (const candidate of all) {
    if (candidate.first >= words) continue;
    const last = Math.min(candidate.last, words - 1);
    const key = `${candidate.first} ${last} ${candidate.label}`;
    const other = best.get(key);
    if (!other || candidate.score > other.score) best.set(key, { ...candidate, last });
  }
  return { ...answer, candidates: SpanRows.of([...best.values()]) };
}
