import { z } from 'zod';
import { allFinite } from '../../lib/numbers';
import { ModelFileError } from '../../models/files';
import { readArchitectures } from '../../models/hugging-face/architectures';
import { findModelFolder } from '../../models/hugging-face/directory';
import { listModules } from '../../models/sentence-transformers/modules';
import { EngineError, type TextInput } from '../../native/engine';
import type { Classification } from '../capabilities';
import {
  classifiedWindows,
  combineWindowScores,
  isBlank,
  scores,
  toClassification,
} from '../classification';
import { classifierOutputs } from '../classifier-tensors';
import type { Task } from '../task';
import type { Tensors } from '../tensors';
import { readTextClassifier, type TextClassifierMetadata } from './model-directory';

/** Of a text that holds nothing but white space. A second text may: `pipeline` reads it like any other. */
export const EMPTY_TEXT = 'Text payload cannot be empty.';

/** Part of a window that it may share with the one before, by model.json: with more, every long text is rejected. */
const MAX_STRIDE = 3 / 4;

/** Its fields of "model" in GET /info. */
export const TEXT_INFO = {
  labels: z.array(z.string()).optional(),
  max_length: z.int().optional().describe('Tokens; longer texts are cut'),
};

const tensors: Tensors<string | TextInput, Classification, TextClassifierMetadata> = {
  inputs: [
    { name: 'TEXT', content: 'text', optional: false },
    { name: 'TEXT_PAIR', content: 'text', optional: true },
  ],
  ...classifierOutputs({ label: 'LABEL', score: 'SCORE', scores: 'PROBABILITIES' }),
  findProblem: (text) => (isBlank(text as string) ? EMPTY_TEXT : null),
  toInput: ([text, pair]) =>
    pair === undefined ? (text as string) : { text: text as string, pair: pair as string },
};

/** Models of other heads, or of none: what else a folder holds is read, and what lacks is said. */
const OF_OTHERS = /Model$|ForMaskedLM$|ForTokenClassification$/;
/** In a directory of sentence-transformers: a cross-encoder, from version 6 on. */
const OWN = /ForSequenceClassification$/;

function mayClassify(folder: string): boolean {
  const architectures = readArchitectures(folder);
  if (architectures === null) return false;
  if (listModules(folder) !== null) return architectures.some((name) => OWN.test(name));
  return !architectures.some((name) => OF_OTHERS.test(name));
}

/** A Hugging Face sequence classifier: a text, or two, to its top label, as `pipeline` answers. */
export const textClassification: Task<string | TextInput, Classification, TextClassifierMetadata> =
  {
    name: 'text-classification',
    summary: 'Texts to labels, as the `text-classification` pipeline of transformers.',
    disclaimer: null,
    inputKind: 'texts',
    capabilities: ['text-classification'],
    resolveModelPath: findModelFolder,
    findModelPaths: (folder) => (mayClassify(folder) ? [folder] : []),
    listFiles: (directory) => readTextClassifier(directory).files,
    read: readTextClassifier,
    validateLoaded: ({ maxLength }, { longTexts }) => {
      const most = Math.floor(maxLength * MAX_STRIDE);
      if (!longTexts || longTexts.stride <= most) return [];
      const found = `expected at most ${most}, three quarters of the ${maxLength} tokens of a window, found ${longTexts.stride}`;
      throw new ModelFileError(
        `model.json: stride: ${found}. Lower it: windows would overlap so much that long texts are rejected`,
      );
    },
    prepare: (input, { longTexts }) => {
      const text = typeof input === 'string' ? { text: input } : input;
      if (!longTexts || text.isPair || text.pair || text.places !== undefined) return input;
      return { ...text, places: true, stride: longTexts.stride };
    },
    toPrediction: (inference, metadata, index) => {
      const score = (outputs: Float32Array) => scores(outputs, metadata.scoreFunction);
      const windows = classifiedWindows(inference, metadata.labels.length, score);
      const values = windows
        ? combineWindowScores(windows, metadata.longTexts?.combine ?? 'mean')
        : score(inference.values);
      if (allFinite(values)) {
        return { ...toClassification(metadata, values, inference), ...(windows && { windows }) };
      }
      const message = 'The model gave an output that is not finite.';
      throw new EngineError('INFERENCE_FAILED', message, { index });
    },
    logFields: () => ({}),
    info: {
      schemas: TEXT_INFO,
      of: ({ labels }, { maxLength }) => ({ labels: [...labels], max_length: maxLength }),
    },
    tensors,
    page: 'sentiment',
  };
