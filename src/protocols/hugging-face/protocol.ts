import { z } from 'zod';
import { ERRORS } from '../../serving/errors';
import { type Served, servedAs } from '../../tasks/served';
import type { Protocol, Surroundings } from '../protocol';
import { classification } from './classification';

const MODELS = '/models/';

/**
 * The Inference API of Hugging Face, for `huggingface_hub` and `@huggingface/inference`: by the address
 * of the service, and by the name of its model.
 */
export function huggingFace(served: Served, surroundings: Surroundings): Protocol | null {
  const classifier = servedAs(served, 'classifies texts');
  if (!classifier) return null;
  const named = MODELS + served.title.split('/').map(encodeStrictly).join('/');
  const { listLength } = surroundings;
  return {
    endpoints: [
      classification(classifier, surroundings, {
        ...{ path: '/', id: 'textClassification' },
        summary: 'Labels of a text, by falling score',
      }),
      classification(classifier, surroundings, {
        ...{ path: named, id: 'textClassificationByName' },
        summary: 'The same by the name of the model',
      }),
    ],
    gets: {},
    prefix: MODELS,
    errors: {
      status: (code) => ERRORS[code].http,
      body: ({ code, message }) => ({
        error: code === 'NOT_FOUND' ? `There is no such model here: ${named} is served.` : message,
      }),
    },
    probes: [],
    info: null,
    tag: {
      name: 'Hugging Face Inference API',
      description:
        'The text-classification task, for `huggingface_hub` and `@huggingface/inference`. Up to ' +
        `${listLength} texts.`,
    },
    error: { name: 'HuggingFaceError', schema: z.object({ error: z.string() }) },
  };
}

/** Such that nothing of it means anything to the router. */
function encodeStrictly(segment: string): string {
  const percent = (character: string): string =>
    `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(segment).replace(/[!'()*]/g, percent);
}
