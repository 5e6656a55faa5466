import { z } from 'zod';
import { ERRORS } from '../../serving/errors';
import { type ServedModel, withCapability } from '../../tasks/served';
import type { LegacyOperation } from '../openapi/legacy-operation';
import type { Protocol, ProtocolOptions } from '../protocol';
import type { Route } from '../route';
import { classification } from './classification';
import { embedding } from './embedding';
import { withZeroShot } from './hugging-face-zero-shot';
import { tokenClassification } from './token-classification';

const MODELS = '/models/';

/**
 * The Inference API of Hugging Face, for `huggingface_hub` and `@huggingface/inference`: by the address
 * of the service, and by the name of its model.
 */
export function huggingFace(served: ServedModel, surroundings: ProtocolOptions): Protocol | null {
  const asked = taskOf(served, surroundings);
  if (!asked) return null;
  const named = MODELS + served.title.split('/').map(encodeStrictly).join('/');
  const { listLength } = surroundings;
  return {
    routes: [{ ...asked, path: '/' }, byName(asked, named)],
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
        "The model's task, for `huggingface_hub` and `@huggingface/inference`. Up to " +
        `${listLength} texts.`,
    },
    error: { name: 'HuggingFaceError', schema: z.object({ error: z.string() }) },
  };
}

/** The task that a model is asked for; null: there is none for what it can do. */
function taskOf(served: ServedModel, surroundings: ProtocolOptions): Omit<Route, 'path'> | null {
  const classifier = withCapability(served, 'classifies texts');
  if (classifier) {
    const entailment = withCapability(served, 'entails');
    const classifies = classification(classifier, surroundings);
    return entailment ? withZeroShot(classifies, entailment, surroundings) : classifies;
  }
  const embedder = withCapability(served, 'embeds texts');
  if (embedder) return embedding(embedder, surroundings);
  const tagger = withCapability(served, 'tags texts');
  return tagger && tokenClassification(tagger, surroundings);
}

function byName(asked: Omit<Route, 'path'>, path: string): Route {
  const describe = () => {
    const { id, ...operation } = (asked.describe as () => LegacyOperation)();
    return { ...operation, id: `${id}ByName`, summary: 'The same by the name of the model' };
  };
  return { ...asked, path, describe };
}

/** Such that nothing of it means anything to the router. */
function encodeStrictly(segment: string): string {
  const percent = (character: string): string =>
    `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(segment).replace(/[!'()*]/g, percent);
}
