import { z } from 'zod';
import { allFinite } from '../../lib/numbers';
import { ModelFileError } from '../../models/files';
import { readArchitectures } from '../../models/hugging-face/architectures';
import { findModelFolder } from '../../models/hugging-face/directory';
import { listModules } from '../../models/sentence-transformers/modules';
import { EngineError, type TextInput } from '../../native/engine';
import { calibratedScores } from '../calibration/calibration';
import type { Classification } from '../capabilities';
import {
  classifiedWindows,
  combineWindowScores,
  isBlank,
  toClassification,
} from '../classification';
import { classifierOutputs } from '../classifier-tensors';
import type { Task } from '../task';
import type { Tensors } from '../tensors';
import { readTextClassifier, type TextClassifierMetadata } from './model-directory';

/** Error message for a blank text. A blank second text is valid, as in the pipeline of transformers. */
export const EMPTY_TEXT = 'Text payload cannot be empty.';

/** Maximum overlap as a fraction of the window. With a larger overlap every long text would exceed the window limit. */
const MAX_STRIDE = 3 / 4;

/** Fields of `model` in `GET /info`. */
export const TEXT_INFO = {
  labels: z.array(z.string()).optional(),
  max_length: z.int().optional().describe('Tokens; longer texts are cut'),
  calibration: z
    .object({ temperature: z.number(), threshold: z.number().nullable() })
    .optional()
    .describe('Correction of the scores by calibration.json'),
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

/** Architectures of other tasks. Unknown architectures are loaded, and load errors report missing weights. */
const OF_OTHERS = /Model$|ForMaskedLM$|ForTokenClassification$/;
/** Architecture of a cross-encoder in a sentence-transformers folder (version 6 and later). */
const OWN = /ForSequenceClassification$/;

function mayClassify(folder: string): boolean {
  const architectures = readArchitectures(folder);
  if (architectures === null) return false;
  if (listModules(folder) !== null) return architectures.some((name) => OWN.test(name));
  return !architectures.some((name) => OF_OTHERS.test(name));
}

/** Sequence classifier of transformers: texts or text pairs to labels, as its `text-classification` pipeline. */
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
      const { scoreFunction, calibration } = metadata;
      const score = (outputs: Float32Array) =>
        calibratedScores(outputs, scoreFunction, calibration);
      const windows = classifiedWindows(inference, metadata.labels.length, score);
      const values = windows
        ? combineWindowScores(windows, metadata.longTexts?.combine ?? 'mean')
        : score(inference.values);
      if (allFinite(values)) {
        const threshold = calibration?.threshold ?? null;
        const classification = toClassification(metadata, values, inference, threshold);
        return { ...classification, ...(windows && { windows }) };
      }
      const message = 'The model returned an output that is not finite.';
      throw new EngineError('INFERENCE_FAILED', message, { index });
    },
    logFields: ({ calibration }) => (calibration ? { calibration } : {}),
    info: {
      schemas: TEXT_INFO,
      of: ({ labels, calibration }, { maxLength }) => ({
        labels: [...labels],
        max_length: maxLength,
        ...(calibration && { calibration }),
      }),
    },
    tensors,
    page: 'sentiment',
  };
