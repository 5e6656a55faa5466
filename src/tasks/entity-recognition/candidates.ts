import { allFinite } from '../../lib/numbers';
import { EngineError, type Inference } from '../../native/engine';
import type { Candidate, Candidates, EntityInput } from './entities';

/** Values in a row of the model output: first word, last word, label, score. */
const COLUMNS = 4;

/** @throws EngineError INFERENCE_FAILED with the index of the input; null: a single input */
export function toCandidates(
  inference: Inference,
  index: number | null,
  input: EntityInput,
): Candidates {
  const { values, words } = inference;
  if (!allFinite(values)) {
    const message = 'The model returned an output that is not finite.';
    throw new EngineError('INFERENCE_FAILED', message, { index });
  }
  const wasRun = words !== undefined && words.lengths.length <= 1;
  return { candidates: wasRun ? candidatesOf(values) : null, input, inference };
}

function candidatesOf(values: Float32Array): readonly Candidate[] {
  return Array.from({ length: values.length / COLUMNS }, (_, row) => {
    const [first, last, label, score] = values.subarray(row * COLUMNS, (row + 1) * COLUMNS);
    return { first, last, label, score } as Candidate;
  });
}
