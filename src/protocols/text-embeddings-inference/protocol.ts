import type { TextClassifier } from '../../tasks/text-classification/text-classifier';
import type { EndpointLimits } from '../endpoint';
import type { Protocol } from '../protocol';
import { errors } from './errors';
import { describeInfo, type Served } from './info';
import { predict } from './predict';

/** The routes of text-embeddings-inference that a sequence classifier has. */
export function textEmbeddingsInference(
  classifier: TextClassifier | null,
  served: Served,
  limits: EndpointLimits,
): Protocol {
  return {
    endpoints: [predict(classifier, limits)],
    gets: {},
    prefix: null,
    errors,
    probes: [],
    info: describeInfo(classifier, served, limits),
    describe: () => (require('./openapi') as typeof import('./openapi')).describe(limits),
  };
}
