import { printable } from '../../lib/printable';
import { ModelFileError } from '../../models/files';
import type { ModelTrial } from '../../native/engine';
import type { ModelSettings } from './model-settings';

/** Rounding that a sum of float32 probabilities may have. */
const SUM_TOLERANCE = 1e-4;
/** Rounding that one probability may have; four decimals hide it. */
const PROBABILITY_TOLERANCE = 1e-5;

/** Whether each value is in [0, 1]. */
export function areProbabilities(values: Float32Array): boolean {
  return values.every((p) => p >= -PROBABILITY_TOLERANCE && p <= 1 + PROBABILITY_TOLERANCE);
}

/**
 * Holds what came of trying a model against its settings. With a settings file, what does not fit
 * it is an error. Without one only requests can fail, as the contract has it, and a warning says
 * what they will meet.
 *
 * @param modelFile name of the model's file, for messages
 * @param settingsFile name that its settings file has or would have
 * @returns warnings
 * @throws ModelFileError naming the key
 */
export function validateTrialRun(
  trial: ModelTrial,
  settings: ModelSettings,
  { modelFile, settingsFile }: { readonly modelFile: string; readonly settingsFile: string },
): readonly string[] {
  const misfit = findMisfit(trial, settings, modelFile);
  if (misfit !== null && settings.file !== null) {
    throw new ModelFileError(`${settingsFile}: ${misfit}`);
  }
  const warnings: string[] = [];
  if (misfit !== null) {
    warnings.push(
      `requests will fail; if the model is right, describe it in ${settingsFile}: ${misfit}`,
    );
  }
  if (!trial.repeatable) {
    warnings.push(
      `${modelFile}: answers the same window differently each time; was it saved in training ` +
        'mode? Call model.eval() before it is traced, scripted or exported',
    );
  }
  if (settings.output === null && sumToOne(trial.outputs)) {
    warnings.push(
      `${modelFile}: its outputs always sum to 1, as probabilities do, and a softmax is applied ` +
        `to them: set "output" in ${settingsFile} to "probabilities" if that is what they are, ` +
        'to "logits" if not',
    );
  }
  return warnings;
}

/** `<key>: <what the model does instead>`, or null. */
function findMisfit(
  trial: ModelTrial,
  { classes, windowLength, output }: ModelSettings,
  modelFile: string,
): string | null {
  const [first] = trial.outputs;
  if (first === undefined) {
    return `window_length: ${modelFile} cannot run a window of ${windowLength} samples: ${printable(trial.error)}`;
  }
  if (first.length !== classes.length) {
    return (
      `classes: names ${classes.length} classes, but ${modelFile} gives ${first.length} ` +
      `numbers for a window of ${windowLength} samples`
    );
  }
  const wrong = trial.outputs.find((values) => !areProbabilities(values));
  if (output === 'probabilities' && wrong) {
    return (
      `output: is "probabilities", but ${modelFile} gives values outside of 0 to 1, such as ` +
      `${wrong.find((value) => !areProbabilities(Float32Array.of(value)))}`
    );
  }
  return null;
}

function sumToOne(outputs: readonly Float32Array[]): boolean {
  return (
    outputs.length > 1 &&
    outputs.every(
      (values) =>
        areProbabilities(values) &&
        Math.abs(values.reduce((sum, value) => sum + value, 0) - 1) <= SUM_TOLERANCE,
    )
  );
}
