import { allFinite } from '../../lib/numbers';
import { EngineError, type Inference } from '../../native/engine';
import type { Prediction } from '../predictor';

/** Logits of the options of a question, or of the labels of a text. */
export interface OptionLogits extends Prediction {
  readonly logits: Float32Array;
}

/** @throws EngineError INFERENCE_FAILED */
export function toOptionLogits(inference: Inference, index: number | null): OptionLogits {
  if (allFinite(inference.values)) return { logits: inference.values, inference };
  const message = 'The model returned an output that is not finite.';
  throw new EngineError('INFERENCE_FAILED', message, { index });
}
