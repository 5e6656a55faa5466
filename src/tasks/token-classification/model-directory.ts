import { z } from 'zod';
import { ModelFileError } from '../../models/files';
import { architecturesOf } from '../../models/hugging-face/architectures';
import {
  CONFIG,
  identityOf,
  modelConfig,
  readDirectory,
  weightsSource,
} from '../../models/hugging-face/directory';
import { countLabels, labelConfig, labelNames } from '../../models/hugging-face/labels';
import { findModel } from '../../models/hugging-face/weight-files';
import type { TextModelSource } from '../../native/engine';
import type { ClassifierAbout } from '../abilities';

const ARCHITECTURE = 'ForTokenClassification';

const configSchema = modelConfig.extend({
  ...labelConfig,
  architectures: z.array(z.string()).nullish(),
});

export interface TaggerDirectory {
  readonly source: TextModelSource;
  /** Absolute paths of all that is read of the folder. */
  readonly files: readonly string[];
  readonly about: ClassifierAbout;
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
  const found = findModel(directory);
  if ('program' in found) {
    throw new ModelFileError(
      'model.safetensors: not found: a token classifier is loaded from weights, not from a program',
    );
  }
  const { weightFiles } = found;
  const numLabels = countLabels(config);
  return {
    source: weightsSource(directory, config, {
      weightFiles,
      head: { name: 'token-classification' },
      added: { num_labels: numLabels },
    }),
    files: [...files, ...weightFiles],
    about: { ...identityOf(config), labels: labelNames(config.id2label, numLabels) },
  };
}
