import { allFinite } from '../../lib/numbers';
import { EngineError, type Inference } from '../../native/engine';
import type { Candidates, EntityInput } from './entities';
import { SpanRows } from './span-rows';

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
  return { candidates: wasRun ? new SpanRows(values) : null, input, inference };
}
