import { z } from 'zod';
import { existingFiles, fileSize } from '../../models/files';
import { requireModelJson } from '../../models/json';
import { TEMPERATURES } from './temperatures';

export const DECISION_CALIBRATION = 'decision-calibration.json';

const temperature = z
  .number()
  .min(TEMPERATURES.min)
  .max(TEMPERATURES.max)
  .default(1)
  .describe('Divisor of the logarithms of the probabilities; 1: none');

export const decisionCalibrationJson = z.strictObject({
  version: z.literal(1),
  temperatures: z.strictObject({
    predicate: temperature,
    choice: temperature,
    score: temperature,
  }),
  examples: z.int().min(1).describe('Number of examples of the fit'),
  measured: z.looseObject({}).optional().describe('Report of the fit; has no effect'),
});

export type DecisionCalibrationFile = z.output<typeof decisionCalibrationJson>;

/** Temperatures of the answers of a decision model, by type of question. */
export type DecisionTemperatures = DecisionCalibrationFile['temperatures'];

/**
 * Reads the calibration of the decisions of a model folder, for the metadata of the model.
 *
 * @returns no entry if the folder contains none
 * @throws ModelFileError
 */
export function calibratedDecisions(directory: string): {
  readonly decisionTemperatures?: DecisionTemperatures;
} {
  if (fileSize(directory, DECISION_CALIBRATION) === null) return {};
  const file = requireModelJson(directory, DECISION_CALIBRATION, decisionCalibrationJson);
  return { decisionTemperatures: file.temperatures };
}

/** Adds the calibration of decisions to what `read` reads of a model folder. */
export function withCalibratedDecisions<
  Files extends { readonly files: readonly string[]; readonly metadata: object },
>(read: (directory: string) => Files): (directory: string) => Files {
  return (directory) => {
    const folder = read(directory);
    return {
      ...folder,
      files: [...folder.files, ...existingFiles(directory, [DECISION_CALIBRATION])],
      metadata: { ...folder.metadata, ...calibratedDecisions(directory) },
    };
  };
}

/** Probabilities whose logarithms are divided by a temperature. */
export function temperedProbabilities(
  probabilities: readonly number[],
  temperature: number,
): readonly number[] {
  if (temperature === 1) return probabilities;
  const powers = probabilities.map((p) => p ** (1 / temperature));
  const sum = powers.reduce((all, one) => all + one, 0);
  return powers.map((power) => power / sum);
}
