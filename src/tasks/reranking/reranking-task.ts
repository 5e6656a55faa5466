import { z } from 'zod';
import { EngineError, type TextInput } from '../../native/engine';
import { allFinite } from '../../numeric/activations';
import type { Classification, ClassifierMetadata, PairScore } from '../abilities';
import type { Task } from '../task';
import type { OutputTensor, Tensors } from '../tensors';
import {
  activate,
  chooseActivation,
  type RerankerAbout,
  readCrossEncoder,
  requirePlain,
  toPair,
} from './cross-encoder';
import { rerankingRows } from './reranking-rows';

const tensors: Tensors<TextInput, PairScore, RerankerAbout> = {
  inputs: [
    { name: 'QUERY', holds: 'text', optional: false },
    { name: 'DOCUMENT', holds: 'text', optional: false },
  ],
  outputs: ({ labels: { length } }) => [
    { name: 'SCORE', datatype: 'FP32', shape: length === 1 ? [-1] : [-1, length] },
  ],
  classified: () => null,
  problemOf: () => null,
  toInput: ([query, document]) => toPair(query as string, document as string),
  write: (answers, { labels: { length } }): readonly OutputTensor[] => {
    const values = new Float32Array(answers.length * length);
    for (const [index, { scores }] of answers.entries()) values.set(scores, index * length);
    const shape = length === 1 ? [answers.length] : [answers.length, length];
    return [{ name: 'SCORE', datatype: 'FP32', shape, values }];
  },
};

/**
 * A cross-encoder of sentence-transformers: a sequence classifier that reads a query with a document.
 * Scores are those of `CrossEncoder.predict`.
 *
 * @param classifier how such a model is found, read and loaded
 */
export function rerankingOver<Known extends ClassifierMetadata>(
  classifier: Task<string | TextInput, Classification, Known>,
): Task<TextInput, PairScore, RerankerAbout> {
  return {
    name: 'reranking',
    summary:
      'Documents by how well they answer a query, as `CrossEncoder` of sentence-transformers.',
    disclaimer: null,
    inputKind: 'texts',
    abilities: ['scores pairs'],
    locate: classifier.locate,
    findIn: classifier.findIn,
    isDeclaredFor: (directory) =>
      readCrossEncoder(directory).isMarked && classifier.read(directory).about.labels.length === 1,
    filesOf: (directory) => [
      ...classifier.filesOf(directory),
      ...readCrossEncoder(directory).files,
    ],
    read: (directory) => {
      requirePlain(directory);
      const { source, about } = classifier.read(directory);
      const { name, version, labels } = about;
      const said = readCrossEncoder(directory);
      const activation = chooseActivation(said.activation, labels.length);
      return {
        source: source.type === 'signal-program' ? source : { ...source, ...said.reading },
        about: { name, version, labels, activation },
      };
    },
    validateLoaded: (_, { activation }, directory) => {
      const { activation: named } = readCrossEncoder(directory);
      if (named === null || named.startsWith('torch.')) return [];
      return [
        `activation_fn names code of its own, which is not run: scores are those of ${activation}`,
      ];
    },
    prepare: (input) => input,
    toPrediction: (inference, { activation }, index) => {
      const scores = activate(inference.values, activation);
      if (allFinite(scores)) return { scores, inference };
      const message = 'The model gave an output that is not finite.';
      throw new EngineError('INFERENCE_FAILED', message, { index });
    },
    logFields: ({ activation }) => ({ activation }),
    info: {
      schemas: {
        activation: z.string().optional().describe('From outputs to scores'),
        max_length: z.int().optional().describe('Tokens of both texts; longer ones are cut'),
      },
      of: ({ activation }, { maxLength }) => ({ activation, max_length: maxLength }),
    },
    tensors,
    rows: rerankingRows,
    page: 'reranking',
  };
}
