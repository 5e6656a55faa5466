import { z } from 'zod';
import { allFinite, softmaxRows } from '../../lib/numbers';
import { findModelFolder } from '../../models/hugging-face/directory';
import { EngineError } from '../../native/engine';
import type {
  ClassifierMetadata,
  TokenClassification,
  TokenClassificationInput,
} from '../capabilities';
import type { Task } from '../task';
import { isTokenClassifier, readTokenClassifier } from './model-directory';
import { taggingTensors } from './tensors';

const LONE_SURROGATES = /[\ud800-\udfff]/gu;

/**
 * Token classification (NER) with a Hugging Face model. Spans are computed from the token scores.
 */
export const tokenClassification: Task<
  TokenClassificationInput,
  TokenClassification,
  ClassifierMetadata
> = {
  name: 'token-classification',
  summary: 'Spans of texts to labels, as the `token-classification` pipeline of transformers.',
  disclaimer: null,
  inputKind: 'texts',
  capabilities: ['token-classification'],
  resolveModelPath: (location) => {
    const folder = findModelFolder(location);
    return folder !== null && isTokenClassifier(folder) ? folder : null;
  },
  findModelPaths: (folder) => (isTokenClassifier(folder) ? [folder] : []),
  isDeclaredFor: () => true,
  listFiles: (directory) => readTokenClassifier(directory).files,
  read: readTokenClassifier,
  validateLoaded: () => [],
  prepare: ({ text, stride, maxTokens }) => ({
    text,
    places: true,
    ...(stride !== undefined && { stride }),
    ...(maxTokens !== undefined && { maxTokens }),
  }),
  toPrediction: (inference, { labels: { length } }, index, { text }) => {
    const { values } = inference;
    if (!allFinite(values)) {
      const message = 'The model returned an output that is not finite.';
      throw new EngineError('INFERENCE_FAILED', message, { index });
    }
    const scores = softmaxRows(values, length);
    // The native side reads lone surrogates as U+FFFD.
    return { text: text.replace(LONE_SURROGATES, '\ufffd'), scores, inference };
  },
  logFields: () => ({}),
  info: {
    schemas: {
      labels: z.array(z.string()).optional(),
      max_length: z.int().optional().describe('Tokens; longer texts are cut, or read in windows'),
    },
    of: ({ labels }, { maxLength }) => ({ labels: [...labels], max_length: maxLength }),
  },
  tensors: taggingTensors,
  page: 'tagging',
};
