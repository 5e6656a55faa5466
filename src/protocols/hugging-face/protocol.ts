import { STATUS } from '../../serving/errors';
import type { TextClassifier } from '../../tasks/text-classification/text-classifier';
import type { EndpointLimits } from '../endpoint';
import type { Protocol } from '../protocol';
import { classification } from './classification';

const MODELS = '/models/';

/**
 * The Inference API of Hugging Face, for `huggingface_hub` and `@huggingface/inference`: by the address
 * of the service, and by the name of its model.
 *
 * @param name of the model that is served
 */
export function huggingFace(
  classifier: TextClassifier | null,
  name: string,
  limits: EndpointLimits,
): Protocol {
  const named = MODELS + name.split('/').map(encodeStrictly).join('/');
  return {
    endpoints: ['/', named].map((path) => classification(path, classifier, limits)),
    gets: {},
    prefix: MODELS,
    errors: {
      status: (code) => STATUS[code],
      body: ({ code, message }) => ({
        error: code === 'NOT_FOUND' ? `There is no such model here: ${named} is served.` : message,
      }),
    },
    probes: [],
    info: null,
    describe: () =>
      (require('./openapi') as typeof import('./openapi')).describe(['/', named], limits),
  };
}

/** Such that nothing of it means anything to the router. */
function encodeStrictly(segment: string): string {
  const percent = (character: string): string =>
    `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(segment).replace(/[!'()*]/g, percent);
}
