import { mapInTimeSlices } from '../../lib/time-slice';
import type { InferOptions } from '../../native/engine';
import type { Candidate, EntityRecognizer } from '../entity-recognition/entities';
import { findCandidates, toEntity } from '../entity-recognition/find-entities';
import { selectEntities } from '../entity-recognition/overlaps';
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
  const reaches = ({ label, score }: Candidate): boolean => score >= (limits[label] as number);
  const hits = await mapInTimeSlices(found, (one, index): readonly Hit[] => {
    const entities = selectEntities(one.candidates.filter(reaches), WITHOUT_OVERLAPS);
    const spans = hasScores ? withOthers(entities, one.candidates) : entities;
    const variant = variants[index] as TextVariant;
    return spans.map((span) => ({ variant, ...toEntity(span, one, labels) }));
  });
  const unread = found.flatMap(({ readTo }, index) =>
    readTo === null ? [] : [{ variant: variants[index] as TextVariant, start: readTo }],
  );
  return { hits: hits.flat(), inferences, unread };
}

/** Adds the best of the candidates that do not overlap the entities. */
function withOthers(
  entities: readonly Candidate[],
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const taken = new Set(entities.flatMap(({ first, last }) => range(first, last)));
  const free = candidates.filter(
    ({ first, last }) => !range(first, last).some((word) => taken.has(word)),
  );
  return [...entities, ...selectEntities(free, WITHOUT_OVERLAPS)];
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
