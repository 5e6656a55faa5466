import { z } from 'zod';
import { ModelFileError } from '../../models/files';
import { checkModelJson, readModelJson } from '../../models/json';
import { bioesLabels } from './bioes-labels';
import type { TransitionBiases, ViterbiDecoder } from './viterbi';

export const CALIBRATION = 'viterbi_calibration.json';

/** Model type whose entities are found by Viterbi decoding, with or without the file. */
const PRIVACY_FILTER = 'openai_privacy_filter';

/** Larger biases would exceed every difference of logits. */
const MAX_BIAS = 1e6;

const bias = z.number().min(-MAX_BIAS).max(MAX_BIAS);

const calibrationSchema = z.looseObject({
  operating_points: z.looseObject({
    default: z.looseObject({
      biases: z.strictObject({
        transition_bias_background_stay: bias,
        transition_bias_background_to_start: bias,
        transition_bias_inside_to_continue: bias,
        transition_bias_inside_to_end: bias,
        transition_bias_end_to_background: bias,
        transition_bias_end_to_start: bias,
      }),
    }),
  }),
});

const NO_BIASES: TransitionBiases = {
  backgroundStay: 0,
  backgroundToStart: 0,
  insideToContinue: 0,
  insideToEnd: 0,
  endToBackground: 0,
  endToStart: 0,
};

/**
 * Returns the decoder of a token classifier: with the biases of `viterbi_calibration.json`, or
 * without biases for a privacy filter with BIOES labels.
 *
 * @returns null: the model has no Viterbi decoding
 * @throws ModelFileError
 */
export function readViterbiDecoder(
  directory: string,
  modelType: string,
  labels: readonly string[],
): ViterbiDecoder | null {
  const content = readModelJson(directory, CALIBRATION);
  if (content === undefined && modelType !== PRIVACY_FILTER) return null;
  const found = bioesLabels(labels);
  if (content === undefined) return found && { ...found, biases: NO_BIASES };
  const calibration = checkModelJson(CALIBRATION, calibrationSchema, content);
  if (!found) {
    throw new ModelFileError(
      `${CALIBRATION}: expected id2label of config.json to list O, and B-, I-, E- and S- of each class. Correct id2label, or remove the file`,
    );
  }
  const { biases } = calibration.operating_points.default;
  return {
    ...found,
    biases: {
      backgroundStay: biases.transition_bias_background_stay,
      backgroundToStart: biases.transition_bias_background_to_start,
      insideToContinue: biases.transition_bias_inside_to_continue,
      insideToEnd: biases.transition_bias_inside_to_end,
      endToBackground: biases.transition_bias_end_to_background,
      endToStart: biases.transition_bias_end_to_start,
    },
  };
}
