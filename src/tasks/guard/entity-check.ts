import { TimeSlice } from '../../lib/time-slice';
import type { InferOptions } from '../../native/engine';
import type { EntityRecognizer } from '../entity-recognition/entities';
import { findCandidates, toEntity } from '../entity-recognition/find-entities';
import { selectEntitiesInSlices } from '../entity-recognition/overlaps';
import type { Candidate, SpanRows } from '../entity-recognition/span-rows';
import type { CheckOf } from './guard-file';
import type { CheckResult, Hit, TextVariant } from './scan';

/** Threshold of spans if scores below the thresholds are requested: most spans of a text score near 0. */
const LOWEST_SCORE = 0.05;

const WITHOUT_OVERLAPS = { isFlat: true, isMultiLabel: false };

/**
 * Finds entities of the labels of a check. Of overlapping entities that reach their thresholds, the one with the
 * highest score remains.
 *
 * @param hasScores whether to return spans below the thresholds, too; they do not overlap the entities
 */
export async function findNamedEntities(
  { labels: thresholds, descriptions }: CheckOf<'entity-recognition'>,
  variants: readonly TextVariant[],
  model: EntityRecognizer,
  { options, hasScores }: { readonly options: InferOptions; readonly hasScores: boolean },
): Promise<CheckResult> {
  const labels = Object.keys(thresholds).map((name) => ({
    name,
    prompt: Object.hasOwn(descriptions, name) ? (descriptions[name] as string) : name,
  }));
  const limits = Object.values(thresholds);
  const threshold = Math.min(...limits, hasScores ? LOWEST_SCORE : 1);
  const texts = variants.map(({ text }) => text);
  const { found, inferences } = await findCandidates(model, texts, { labels, threshold }, options);
  const hits: Hit[] = [];
  const turns = new TimeSlice();
  for (const [index, one] of found.entries()) {
    const { candidates } = one;
    const reaching = candidates.filter(
      (row) => candidates.score(row) >= (limits[candidates.label(row)] as number),
    );
    const entities = await selectEntitiesInSlices(reaching, WITHOUT_OVERLAPS, turns);
    const spans = hasScores ? await withOthers(entities, candidates, turns) : entities;
    const variant = variants[index] as TextVariant;
    for (const span of spans) hits.push({ variant, ...toEntity(span, one, labels) });
  }
  const unread = found.flatMap(({ readTo }, index) =>
    readTo === null ? [] : [{ variant: variants[index] as TextVariant, start: readTo }],
  );
  return { hits, inferences, unread };
}

/** Adds the best of the candidates that do not overlap the entities. */
async function withOthers(
  entities: readonly Candidate[],
  candidates: SpanRows,
  turns: TimeSlice,
): Promise<readonly Candidate[]> {
  // Last word of the last entity that begins at a word or before.
  const ends = new Map<number, number>(entities.map(({ first, last }) => [first, last]));
  const lastWords: number[] = [];
  const words = entities.reduce((count, { last }) => Math.max(count, last + 1), 0);
  for (let word = 0; word < words; word++) {
    lastWords.push(ends.get(word) ?? lastWords.at(-1) ?? -1);
  }
  const free = candidates.filter((row) => {
    const before = lastWords[Math.min(candidates.last(row), words - 1)] ?? -1;
    return before < candidates.first(row);
  });
  return [...entities, ...(await selectEntitiesInSlices(free, WITHOUT_OVERLAPS, turns))];
}
