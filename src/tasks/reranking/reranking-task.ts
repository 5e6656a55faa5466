import { z } from 'zod';
import { allFinite } from '../../lib/numbers';
import { EngineError, type TextInput } from '../../native/engine';
import type { Classification, ClassifierMetadata, PairScore } from '../capabilities';
import type { Task } from '../task';
import type { OutputTensor, Tensors } from '../tensors';
import {
  activate,
  chooseActivation,
  type RerankerMetadata,
  readActivation,
  readCrossEncoder,
  requireSequenceClassifier,
  toPair,
} from './cross-encoder';
import { fillPair, isDeclaredReranker, isDecoder, readDecoderReranker } from './decoder-reranker';

const tensors: Tensors<TextInput, PairScore, RerankerMetadata> = {
  inputs: [
    { name: 'QUERY', content: 'text', optional: false },
    { name: 'DOCUMENT', content: 'text', optional: false },
  ],
  outputs: ({ labels: { length } }) => [
    { name: 'SCORE', datatype: 'FP32', shape: length === 1 ? [-1] : [-1, length] },
  ],
  labeledOutput: () => null,
  findProblem: () => null,
  toInput: ([query, document]) => toPair(query as string, document as string),
  write: (predictions, { labels: { length } }): readonly OutputTensor[] => {
    const values = new Float32Array(predictions.length * length);
    for (const [index, { scores }] of predictions.entries()) values.set(scores, index * length);
    const shape = length === 1 ? [predictions.length] : [predictions.length, length];
    return [{ name: 'SCORE', datatype: 'FP32', shape, values }];
  },
};

/**
 * Creates the reranking task for cross-encoders of sentence-transformers: sequence classifiers for
 * pairs of query and document. Scores equal `CrossEncoder.predict`.
 *
 * @param classifier text classification task that finds, reads and loads the model
 */
export function createRerankingTask<Metadata extends ClassifierMetadata>(
  classifier: Task<string | TextInput, Classification, Metadata>,
): Task<TextInput, PairScore, RerankerMetadata> {
  return {
    name: 'reranking',
    summary:
      'Ranks documents by their relevance to a query, as `CrossEncoder` of sentence-transformers does.',
    disclaimer: null,
    inputKind: 'texts',
    capabilities: ['reranking'],
    resolveModelPath: classifier.resolveModelPath,
    findModelPaths: (folder) =>
      isDeclaredReranker(folder) ? [folder] : classifier.findModelPaths(folder),
    isDeclaredFor: (directory) =>
      isDeclaredReranker(directory) ||
      (readCrossEncoder(directory).isDeclared &&
        classifier.read(directory).metadata.labels.length === 1),
    listFiles: (directory) =>
      isDecoder(directory)
        ? readDecoderReranker(directory).files
        : [...classifier.listFiles(directory), ...readCrossEncoder(directory).files],
    read: (directory) => {
      if (isDecoder(directory)) return readDecoderReranker(directory);
      requireSequenceClassifier(directory);
      const { source, metadata } = classifier.read(directory);
      const { name, version, labels } = metadata;
      const said = readCrossEncoder(directory);
      const activation = chooseActivation(said.activation, labels.length);
      return {
        source: source.type === 'signal-program' ? source : { ...source, ...said.reading },
        metadata: { name, version, labels, activation, classifier: metadata },
      };
    },
    validateLoaded: (description, { activation, classifier: metadata }, directory) => {
      const warnings = metadata
        ? classifier.validateLoaded(description, metadata as Metadata, directory)
        : [];
      const { activation: named } = readActivation(directory);
      if (named === null || named.startsWith('torch.')) return warnings;
      return [
        ...warnings,
        `activation_fn names code of its own, which is not run: scores are those of ${activation}`,
      ];
    },
    prepare: (input, { template }) => (template ? fillPair(input, template) : input),
    toPrediction: (inference, { activation }, index) => {
      const scores = activate(inference.values, activation);
      if (allFinite(scores)) return { scores, inference };
      const message = 'The model returned an output that is not finite.';
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
    page: 'reranking',
  };
}
