import { z } from 'zod';
import { softmax } from '../../lib/numbers';
import { type GliclassMetadata, isGliclass, readGliclass } from '../../models/gliclass/directory';
import { findModelFolder } from '../../models/hugging-face/directory';
import { withCalibratedDecisions } from '../calibration/decision-calibration';
import type { ModelMetadata } from '../predictor';
import type { Task } from '../task';
import { type GliclassInput, gliclassRecipe } from './gliclass-prompt';
import { type OptionLogits, toOptionLogits } from './option-logits';
import { optionTensors } from './option-tensors';

const read = withCalibratedDecisions(readGliclass);

export type GliclassModelMetadata = GliclassMetadata & ModelMetadata;

/** Labels that a request names, with GLiClass models. */
export const gliclass: Task<GliclassInput, OptionLogits, GliclassModelMetadata> = {
  name: 'gliclass',
  summary: 'Texts to labels that a request names, as `ZeroShotClassificationPipeline` of gliclass.',
  disclaimer: null,
  inputKind: 'texts',
  capabilities: ['zero-shot', 'decision'],
  resolveModelPath: (location) => {
    const folder = findModelFolder(location);
    return folder !== null && isGliclass(folder) ? folder : null;
  },
  findModelPaths: (folder) => (isGliclass(folder) ? [folder] : []),
  isDeclaredFor: isGliclass,
  listFiles: (directory) => read(directory).files,
  read,
  validateLoaded: () => [],
  prepare: gliclassRecipe,
  toPrediction: (inference, _, index) => toOptionLogits(inference, index),
  logFields: () => ({}),
  info: {
    schemas: {
      max_length: z.int().optional().describe('Tokens of the text and the labels'),
    },
    of: (_, { maxLength }) => ({ max_length: maxLength }),
  },
  tensors: optionTensors<GliclassInput, GliclassModelMetadata>({
    toInput: (text, labels, prompt) => ({ text, labels, prompt, truncationSide: 'right' }),
    toProbabilities: softmax,
  }),
  page: 'decisions',
};
