import { type Served, servedAs } from '../../tasks/served';
import type { Protocol, Surroundings } from '../protocol';
import { errorAnswer, errors } from './errors';
import { describeInfo } from './info';
import { predict } from './predict';

/** The routes of text-embeddings-inference that a sequence classifier has. */
export function textEmbeddingsInference(
  served: Served,
  surroundings: Surroundings,
): Protocol | null {
  const classifier = servedAs(served, 'classifies texts');
  if (!classifier) return null;
  return {
    endpoints: [predict(classifier.model, surroundings)],
    gets: {},
    prefix: null,
    errors,
    probes: [],
    info: describeInfo(classifier, surroundings),
    tag: {
      name: 'text-embeddings-inference',
      description: 'The routes of text-embeddings-inference that a sequence classifier has.',
    },
    error: { name: 'TeiError', schema: errorAnswer },
  };
}
