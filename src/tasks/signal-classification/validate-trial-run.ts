import { printable } from '../../lib/printable';
import { ModelFileError } from '../../models/files';
import type { ModelTrial } from '../../native/engine';
import type { ModelSettings } from './model-settings';

/** Rounding tolerance for the sum of float32 probabilities. */
const SUM_TOLERANCE = 1e-4;
/**
 * Rounding tolerance for a single probability. Responses with four decimals hide differences of
 * this size.
 */
const PROBABILITY_TOLERANCE = 1e-5;

/** Whether each value is in [0, 1]. */
export function areProbabilities(values: Float32Array): boolean {
  return values.every((p) => p >= -PROBABILITY_TOLERANCE && p <= 1 + PROBABILITY_TOLERANCE);
}

/**
 * Compares the result of a trial run with the settings of the model. With a settings file, each
 * difference is an error. Without a settings file, a difference causes a warning, because requests
 * fail later.
 *
 * @param modelFile name of the model file, for messages
 * @param settingsFile name of the existing or expected settings file
 * @returns warnings
 * @throws ModelFileError that names the key
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
      `${modelFile}: returns different results for the same window; was it saved in training ` +
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

/** Returns `<key>: <actual behavior of the model>`; null if the model matches its settings. */
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
