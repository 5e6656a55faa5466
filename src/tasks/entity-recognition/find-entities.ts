import { mapInTimeSlices } from '../../lib/time-slice';
import type { Inference, InferOptions, WordWindows } from '../../native/engine';
import { errorOf } from '../../native/engine-error';
import type { Candidate, Candidates, Entity, EntityOptions, EntityRecognizer } from './entities';
import { selectEntities } from './overlaps';

/** Windows of long texts that are queued at a time. Other requests run between these groups. */
const WINDOWS_PER_REQUEST = 32;

/**
 * Finds entities of texts. A text with more words or tokens than the model takes is read in overlapping windows; of the
 * scores of a span in several windows the highest counts.
 *
 * @returns entities of each text by ascending start
 * @throws EngineError; its index refers to the text
 */
export async function findEntities(
  model: Pick<EntityRecognizer, 'runAll'>,
  texts: readonly string[],
  options: EntityOptions,
  inferOptions: InferOptions,
): Promise<{
  readonly entities: readonly (readonly Entity[])[];
  readonly inferences: readonly Inference[];
}> {
  const { labels, threshold } = options;
  const inputs = texts.map((text) => ({ text, labels, threshold }));
  const deadline = inferOptions.timeoutMs ? performance.now() + inferOptions.timeoutMs : null;
  const answers = await model.runAll(inputs, inferOptions);
  const inferences = answers.map(({ inference }) => inference);
  const candidates: (readonly Candidate[])[] = [];
  for (const [index, answer] of answers.entries()) {
    if (answer.candidates !== null) candidates.push(answer.candidates);
    else {
      const windows = await runWindows(model, texts[index] as string, answer, {
        options,
        remaining: () => remainingOptions(inferOptions, deadline),
        inferences,
      });
      candidates.push(mergeCandidates(windows));
    }
  }
  const entities = await mapInTimeSlices(candidates, (own, index) => {
    const { offsets } = wordsOf(answers[index] as Candidates);
    return selectEntities(own, options).map(({ first, last, label, score }) => ({
      label: labels[label]?.name as string,
      score,
      start: offsets[2 * first] as number,
      end: offsets[2 * last + 1] as number,
    }));
  });
  return { entities, inferences };
}

/** Runs the windows of a text, and adds their inferences. */
async function runWindows(
  model: Pick<EntityRecognizer, 'runAll'>,
  text: string,
  answer: Candidates,
  {
    options: { labels, threshold },
    remaining,
    inferences,
  }: {
    readonly options: EntityOptions;
    /** Options with the time that is left. */
    readonly remaining: () => InferOptions;
    readonly inferences: Inference[];
  },
): Promise<readonly Candidate[]> {
  const { offsets, starts, lengths } = wordsOf(answer);
  const found: Candidate[] = [];
  for (let begin = 0; begin < starts.length; begin += WINDOWS_PER_REQUEST) {
    const windows = [...starts.subarray(begin, begin + WINDOWS_PER_REQUEST)];
    const inputs = windows.map((start, index) => {
      const last = start + (lengths[begin + index] as number) - 1;
      const window = text.slice(offsets[2 * start], offsets[2 * last + 1]);
      return { text: window, labels, threshold };
    });
    const predictions = await model.runAll(inputs, remaining());
    for (const [index, { candidates, inference }] of predictions.entries()) {
      const shift = windows[index] as number;
      inferences.push(inference);
      for (const { first, last, label, score } of candidates ?? []) {
        found.push({ first: first + shift, last: last + shift, label, score });
      }
    }
  }
  return found;
}

/** @throws EngineError DEADLINE_EXCEEDED */
function remainingOptions(options: InferOptions, deadline: number | null): InferOptions {
  if (deadline === null) return options;
  const timeoutMs = deadline - performance.now();
  if (timeoutMs <= 0) throw errorOf('DEADLINE_EXCEEDED');
  return { ...options, timeoutMs };
}

/** Keeps the highest score of each span and label, in the order of the words. */
function mergeCandidates(candidates: readonly Candidate[]): readonly Candidate[] {
  const best = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const key = `${candidate.first} ${candidate.last} ${candidate.label}`;
    const other = best.get(key);
    if (!other || candidate.score > other.score) best.set(key, candidate);
  }
  return [...best.values()].sort(
    (a, b) => a.first - b.first || a.last - b.last || a.label - b.label,
  );
}

function wordsOf({ inference }: Candidates): WordWindows {
  return inference.words as WordWindows;
}
