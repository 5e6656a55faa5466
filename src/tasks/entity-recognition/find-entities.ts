import { mapInTimeSlices, TimeSlice } from '../../lib/time-slice';
import type { Inference, InferOptions, WordWindows } from '../../native/engine';
import { remainingOptions } from '../remaining-options';
import type { Candidates, Entity, EntityLabel, EntityOptions, EntityRecognizer } from './entities';
import { selectEntitiesInSlices } from './overlaps';
import type { Candidate, SpanRows } from './span-rows';
import { WindowSpans } from './window-spans';

/** Windows of long texts that are queued at a time. Other requests run between these groups. */
const WINDOWS_PER_REQUEST = 32;

type Model = Pick<EntityRecognizer, 'runAll'>;

/** Spans of a text with a score above the threshold. */
export interface TextCandidates {
  readonly candidates: SpanRows;
  /** Start and end of each word in the text, in UTF-16 units. */
  readonly offsets: Uint32Array;
  /** End of the last word that was read; null: the whole text was read. */
  readonly readTo: number | null;
}

/**
 * Finds entities of texts.
 *
 * @returns entities of each text by ascending start
 * @throws EngineError; its index refers to the text
 */
export async function findEntities(
  model: Model,
  texts: readonly string[],
  options: EntityOptions,
  inferOptions: InferOptions,
): Promise<{
  readonly entities: readonly (readonly Entity[])[];
  readonly inferences: readonly Inference[];
}> {
  const { found, inferences } = await findCandidates(model, texts, options, inferOptions);
  const entities: Entity[][] = [];
  const turns = new TimeSlice();
  for (const one of found) {
    const spans = await selectEntitiesInSlices(one.candidates, options, turns);
    entities.push(spans.map((span) => toEntity(span, one, options.labels)));
    if (turns.isExpired) await turns.yieldToEventLoop();
  }
  return { entities, inferences };
}

/**
 * Finds spans of texts, before overlaps are resolved. A text with more words or tokens than the model takes is read in
 * overlapping windows, at most `maxWindows` of them; of the scores of a span in several windows the highest counts.
 *
 * @throws EngineError; its index refers to the text
 */
export async function findCandidates(
  model: Model,
  texts: readonly string[],
  options: Pick<EntityOptions, 'labels' | 'threshold'>,
  inferOptions: InferOptions,
): Promise<{
  readonly found: readonly TextCandidates[];
  readonly inferences: readonly Inference[];
}> {
  const { labels, threshold } = options;
  const inputs = texts.map((text) => ({ text, labels, threshold }));
  const remaining = remainingOptions(inferOptions);
  const answers = await model.runAll(inputs, inferOptions);
  const inferences = answers.map(({ inference }) => inference);
  const found: TextCandidates[] = [];
  for (const [index, answer] of answers.entries()) {
    const { offsets } = wordsOf(answer);
    if (answer.candidates !== null) {
      found.push({ candidates: answer.candidates, offsets, readTo: null });
      continue;
    }
    const { candidates, readTo } = await runWindows(model, texts[index] as string, answer, {
      options,
      maxWindows: inferOptions.maxWindows ?? Number.POSITIVE_INFINITY,
      remaining,
      inferences,
    });
    found.push({ candidates, offsets, readTo });
  }
  return { found, inferences };
}

/** Position of a span in its text. */
export function toEntity(
  { first, last, label, score }: Candidate,
  { offsets }: Pick<TextCandidates, 'offsets'>,
  labels: readonly EntityLabel[],
): Entity {
  return {
    label: labels[label]?.name as string,
    score,
    start: offsets[2 * first] as number,
    end: offsets[2 * last + 1] as number,
  };
}

/** Runs the windows of a text, and adds their inferences. */
async function runWindows(
  model: Model,
  text: string,
  answer: Candidates,
  {
    options: { labels, threshold },
    maxWindows,
    remaining,
    inferences,
  }: {
    readonly options: Pick<EntityOptions, 'labels' | 'threshold'>;
    readonly maxWindows: number;
    /** Options with the time that is left. */
    readonly remaining: () => InferOptions;
    readonly inferences: Inference[];
  },
): Promise<Pick<TextCandidates, 'candidates' | 'readTo'>> {
  const { offsets, starts, lengths } = wordsOf(answer);
  const count = Math.min(starts.length, maxWindows);
  const spans = new WindowSpans({ words: offsets.length / 2, labels: labels.length });
  for (let begin = 0; begin < count; begin += WINDOWS_PER_REQUEST) {
    const windows = [...starts.subarray(begin, Math.min(count, begin + WINDOWS_PER_REQUEST))];
    const inputs = windows.map((start, index) => {
      const last = start + (lengths[begin + index] as number) - 1;
      const window = text.slice(offsets[2 * start], offsets[2 * last + 1]);
      return { text: window, labels, threshold: Math.max(threshold, spans.lowestScore) };
    });
    const predictions = await model.runAll(inputs, remaining());
    await mapInTimeSlices(predictions, ({ candidates, inference }, index) => {
      inferences.push(inference);
      if (candidates !== null) spans.add(candidates, windows[index] as number);
    });
  }
  const lastRead = (starts[count - 1] ?? 0) + (lengths[count - 1] ?? 0) - 1;
  const readTo = count < starts.length ? (offsets[2 * lastRead + 1] as number) : null;
  return { candidates: spans.sorted(), readTo };
}

function wordsOf({ inference }: Candidates): WordWindows {
  return inference.words as WordWindows;
}
