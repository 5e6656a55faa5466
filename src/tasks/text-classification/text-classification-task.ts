import { z } from 'zod';
import { ModelFileError } from '../../models/files';
import { architecturesOf } from '../../models/hugging-face/architectures';
import { directoryOf } from '../../models/hugging-face/directory';
import { listModules } from '../../models/sentence-transformers/modules';
import { EngineError, type TextInput } from '../../native/engine';
import { allFinite } from '../../numeric/activations';
import { type Classification, classified } from '../abilities';
import { classifierOutputs } from '../classifier-tensors';
import type { Task } from '../task';
import type { Tensors } from '../tensors';
import { readModelDirectory, type TextAbout } from './model-directory';
import { scores } from './probabilities';
import { classifierRows } from './text-classification-rows';
import { isBlank } from './whitespace';
import { classifiedWindows, combine } from './windows';

/** Of a text that holds nothing but white space. A second text may: `pipeline` reads it like any other. */
export const EMPTY = 'Text payload cannot be empty.';

/** Part of a window that it may share with the one before, by model.json: with more, every long text is rejected. */
const MAX_STRIDE = 3 / 4;

/** Its fields of "model" in GET /info. */
export const TEXT_INFO = {
  labels: z.array(z.string()).optional(),
  max_length: z.int().optional().describe('Tokens; longer texts are cut'),
};

const tensors: Tensors<string | TextInput, Classification, TextAbout> = {
  inputs: [
    { name: 'TEXT', holds: 'text', optional: false },
    { name: 'TEXT_PAIR', holds: 'text', optional: true },
  ],
  ...classifierOutputs({ label: 'LABEL', score: 'SCORE', scores: 'PROBABILITIES' }),
  problemOf: (text) => (isBlank(text as string) ? EMPTY : null),
  toInput: ([text, pair]) =>
    pair === undefined ? (text as string) : { text: text as string, pair: pair as string },
};

/** Models of other heads, or of none: what else a folder holds is read, and what lacks is said. */
const OF_OTHERS = /Model$|ForMaskedLM$|ForTokenClassification$/;
/** In a directory of sentence-transformers: a cross-encoder, from version 6 on. */
const OWN = /ForSequenceClassification$/;

function mayClassify(folder: string): boolean {
  const architectures = architecturesOf(folder);
  if (architectures === null) return false;
  if (listModules(folder) !== null) return architectures.some((name) => OWN.test(name));
  return !architectures.some((name) => OF_OTHERS.test(name));
}

/** A Hugging Face sequence classifier: a text, or two, to its top label, as `pipeline` answers. */
export const textClassification: Task<string | TextInput, Classification, TextAbout> = {
  name: 'text-classification',
  summary: 'Texts to labels, as the `text-classification` pipeline of transformers.',
  disclaimer: null,
  inputKind: 'texts',
  abilities: ['classifies texts'],
  locate: directoryOf,
  findIn: (folder) => (mayClassify(folder) ? [folder] : []),
  filesOf: (directory) => readModelDirectory(directory).files,
  read: readModelDirectory,
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
  toPrediction: (inference, about, index) => {
    const score = (outputs: Float32Array) => scores(outputs, about.scoreFunction);
    const windows = classifiedWindows(inference, about.labels.length, score);
    const values = windows
      ? combine(windows, about.longTexts?.combine ?? 'mean')
      : score(inference.values);
    if (allFinite(values)) {
      return { ...classified(about, values, inference), ...(windows && { windows }) };
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
  rows: classifierRows,
  page: 'sentiment',
};
