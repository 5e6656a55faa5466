import { z } from 'zod';
import { fileSize, ModelFileError } from '../../models/files';
import { quoted, requireModelJson } from '../../models/json';
import { type ScoreFunction, scores } from '../classification';
import { TEMPERATURES } from './temperatures';

export const CALIBRATION = 'calibration.json';

export const calibrationJson = z.strictObject({
  version: z.literal(1),
  labels: z.array(z.string()).min(1).describe('Labels of the model, in the order of its outputs'),
  temperature: z
    .number()
    .min(TEMPERATURES.min)
    .max(TEMPERATURES.max)
    .describe('Divisor of the logits'),
  threshold: z
    .number()
    .gt(0)
    .lt(1)
    .nullable()
    .describe('Probability of the second of two labels from which it is the predicted label'),
  examples: z.int().min(1).describe('Number of examples of the fit'),
  measured: z.looseObject({}).optional().describe('Report of the fit; has no effect'),
});

export type CalibrationFile = z.output<typeof calibrationJson>;

/** Correction of a classifier's scores that was fitted on labeled data. */
export type Calibration = Pick<CalibrationFile, 'temperature' | 'threshold'>;

/**
 * Reads the calibration of a model folder.
 *
 * @param labels of the model
 * @returns null if the folder contains no calibration
 * @throws ModelFileError: the file is invalid, or belongs to another model
 */
export function readCalibration(
  directory: string,
  labels: readonly string[],
  scoreFunction: ScoreFunction,
): Calibration | null {
  if (fileSize(directory, CALIBRATION) === null) return null;
  const file = requireModelJson(directory, CALIBRATION, calibrationJson);
  const fix = 'Delete the file, or run libtorch-serve calibrate again';
  if (file.labels.length !== labels.length || file.labels.some((own, i) => own !== labels[i])) {
    const message = `labels: expected those of config.json, ${quoted(labels)}, found ${quoted(file.labels)}. ${fix}`;
    throw new ModelFileError(`${CALIBRATION}: ${message}`);
  }
  if (scoreFunction === 'none') {
    throw new ModelFileError(
      `${CALIBRATION}: expected a classifier, found a regression model. ${fix}`,
    );
  }
  if (file.threshold !== null && !hasThreshold(labels, scoreFunction)) {
    throw new ModelFileError(
      `${CALIBRATION}: threshold: expected null, because the model does not choose one of two labels. ${fix}`,
    );
  }
  return { temperature: file.temperature, threshold: file.threshold };
}

/** Whether a threshold can select the label of a model. */
export function hasThreshold(labels: readonly string[], scoreFunction: ScoreFunction): boolean {
  return labels.length === 2 && scoreFunction === 'softmax';
}

/** Scores of logits that are divided by the temperature. Without a calibration, bitwise those of `scores`. */
export function calibratedScores(
  logits: Float32Array,
  scoreFunction: ScoreFunction,
  calibration: Calibration | null,
): Float32Array {
  if (calibration === null) return scores(logits, scoreFunction);
  const { temperature } = calibration;
  return scores(
    logits.map((logit) => logit / temperature),
    scoreFunction,
  );
}
