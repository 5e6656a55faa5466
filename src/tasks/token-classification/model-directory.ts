import { z } from 'zod';
import { ModelFileError } from '../../models/files';
import { architecturesOf } from '../../models/hugging-face/architectures';
import {
  CONFIG,
  identityOf,
  modelConfig,
  programSource,
  readDirectory,
  weightsSource,
} from '../../models/hugging-face/directory';
import { countLabels, labelConfig, labelNames } from '../../models/hugging-face/labels';
import { findModel } from '../../models/hugging-face/weight-files';
import type { TextModelSource, TextProgramSource } from '../../native/engine';
import type { ClassifierMetadata } from '../abilities';

const ARCHITECTURE = 'ForTokenClassification';

const configSchema = modelConfig.extend({
  ...labelConfig,
  architectures: z.array(z.string()).nullish(),
});

export interface TaggerDirectory {
  readonly source: TextModelSource | TextProgramSource;
  /** Absolute paths of all that is read of the folder. */
  readonly files: readonly string[];
  readonly about: ClassifierMetadata;
}

/** Whether config.json of a folder names a token classifier; one that cannot be read does not, here. */
export function isTagger(directory: string): boolean {
  try {
    return architecturesOf(directory)?.some((name) => name.endsWith(ARCHITECTURE)) ?? false;
  } catch {
    return false;
  }
}

/** @throws ModelFileError */
export function readTagger(directory: string): TaggerDirectory {
  const { config, files } = readDirectory(directory, configSchema);
  const { architectures } = config;
  if (architectures && !architectures.some((name) => name.endsWith(ARCHITECTURE))) {
    throw new ModelFileError(
      `${CONFIG}: architectures: expected a model for token classification, found ${architectures}`,
    );
  }
  const numLabels = countLabels(config);
  const found = findModel(directory);
  const source =
    'program' in found
      ? programSource(directory, config, { program: found.program, numLabels, ofTokens: true })
      : weightsSource(directory, config, {
          weightFiles: found.weightFiles,
          head: { name: 'token-classification' },
          added: { num_labels: numLabels },
        });
  return {
    source,
    files: [...files, ...('program' in found ? [found.program] : found.weightFiles)],
    about: { ...identityOf(config), labels: labelNames(config.id2label, numLabels) },
  };
}
