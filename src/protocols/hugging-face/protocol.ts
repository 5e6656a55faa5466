import { STATUS } from '../../serving/errors';
import { type Served, servedAs } from '../../tasks/served';
import type { Protocol, Surroundings } from '../protocol';
import { classification } from './classification';

const MODELS = '/models/';

/**
 * The Inference API of Hugging Face, for `huggingface_hub` and `@huggingface/inference`: by the address
 * of the service, and by the name of its model.
 */
export function huggingFace(model: Served, surroundings: Surroundings): Protocol | null {
  const classifier = servedAs(model, 'classifies texts');
  if (!classifier) return null;
  const named = MODELS + model.title.split('/').map(encodeStrictly).join('/');
  return {
    endpoints: ['/', named].map((path) => classification(path, classifier.model, surroundings)),
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
      (require('./openapi') as typeof import('./openapi')).describe(['/', named], surroundings),
  };
}

/** Such that nothing of it means anything to the router. */
function encodeStrictly(segment: string): string {
  const percent = (character: string): string =>
    `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(segment).replace(/[!'()*]/g, percent);
}
