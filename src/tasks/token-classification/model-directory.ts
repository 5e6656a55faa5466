import { z } from 'zod';
import { existingFiles, fileSize, ModelFileError } from '../../models/files';
import { readArchitectures } from '../../models/hugging-face/architectures';
import {
  CONFIG,
  modelConfig,
  programSource,
  readDirectory,
  readIdentity,
  weightsSource,
} from '../../models/hugging-face/directory';
import { countLabels, labelConfig, labelNames } from '../../models/hugging-face/labels';
import { findModelFiles } from '../../models/hugging-face/weight-files';
import { weightsFolder } from '../../models/peft/adapter';
import type { TextModelSource, TextProgramSource } from '../../native/engine';
import type { ClassifierMetadata } from '../capabilities';
import { CALIBRATION, readViterbiDecoder } from './viterbi-calibration';

const ARCHITECTURE = 'ForTokenClassification';

const configSchema = modelConfig.extend({
  ...labelConfig,
  architectures: z.array(z.string()).nullish(),
});

export interface TokenClassifierFiles {
  readonly source: TextModelSource | TextProgramSource;
  /** Absolute paths of all files of the model that are read. */
  readonly files: readonly string[];
  readonly metadata: ClassifierMetadata;
}

/**
 * Whether config.json of a folder specifies a token classifier; false if the file cannot be read.
 */
export function isTokenClassifier(directory: string): boolean {
  try {
    return readArchitectures(directory)?.some((name) => name.endsWith(ARCHITECTURE)) ?? false;
  } catch {
    return false;
  }
}

/**
 * Reads the folder of a token classifier.
 *
 * @throws ModelFileError
 */
export function readTokenClassifier(directory: string): TokenClassifierFiles {
  const { config, files } = readDirectory(directory, configSchema);
  const { architectures } = config;
  if (architectures && !architectures.some((name) => name.endsWith(ARCHITECTURE))) {
    throw new ModelFileError(
      `${CONFIG}: architectures: expected a model for token classification, found ${architectures}`,
    );
  }
  const numLabels = countLabels(config);
  const found = findModelFiles(directory);
  const source =
    'program' in found
      ? programSource(directory, config, { program: found.program, numLabels, ofTokens: true })
      : weightsSource(directory, config, {
          weightFiles: found.weightFiles,
          head: { name: 'token-classification' },
          added: { num_labels: numLabels },
        });
  const labels = labelNames(config.id2label, numLabels);
  const calibration = calibrationFolder(directory);
  const viterbi = readViterbiDecoder(calibration, config.model_type, labels);
  return {
    source,
    files: [
      ...files,
      ...existingFiles(calibration, [CALIBRATION]),
      ...('program' in found ? [found.program] : found.weightFiles),
    ],
    metadata: { ...readIdentity(config), labels, ...(viterbi && { viterbi }) },
  };
}

/** Folder of the calibration of Viterbi decoding: the adapter's own, or that of its base. */
function calibrationFolder(directory: string): string {
  return fileSize(directory, CALIBRATION) === null ? weightsFolder(directory) : directory;
}
