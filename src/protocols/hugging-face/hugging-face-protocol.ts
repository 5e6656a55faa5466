import { z } from 'zod';
import { ERRORS, PathNotFoundError } from '../../serving/errors';
import type { Capability } from '../../tasks/capabilities';
import { type ServedModel, withCapability } from '../../tasks/served-model';
import type { Protocol, ProtocolOptions } from '../protocol';
import type { Route } from '../route';
import { entitiesOrZeroShotClassification, entityRecognition } from './entity-recognition';
import { featureExtraction } from './feature-extraction';
import { textClassification, textOrZeroShotClassification } from './text-classification';
import { tokenClassification } from './token-classification';
import { zeroShotClassification } from './zero-shot-classification';

const MODELS = '/models/';
/** Abilities with a task of the API. */
const ABILITIES: readonly Capability[] = [
  'text-classification',
  'zero-shot',
  'entity-recognition',
  'embedding',
  'token-classification',
];

/**
 * The Inference API of Hugging Face, for `huggingface_hub` and `@huggingface/inference`: at the address of the server
 * and below the name of the model. Null: the API has no task for the model.
 */
export function huggingFace(served: ServedModel, options: ProtocolOptions): Protocol | null {
  const modelPath = MODELS + served.title.split('/').map(encodeStrictly).join('/');
  const routes = [
    withAbilities(taskRoute(['/', ''], served, options)),
    taskRoute([modelPath, 'ByName'], served, options),
  ].filter((route) => route !== null);
  if (routes.length === 0) return null;
  return {
    routes,
    prefix: MODELS,
    errors: {
      status: (code) => ERRORS[code].http,
      body: (error) => ({
        error:
          error instanceof PathNotFoundError
            ? `Model not found. The server has ${modelPath}.`
            : error.message,
      }),
    },
    probes: [],
    info: null,
    tag: {
      name: 'Hugging Face Inference API',
      description:
        'The task of the model, for `huggingface_hub` and `@huggingface/inference`. At most ' +
        `${options.listLength} texts.`,
    },
    error: { name: 'HuggingFaceError', schema: z.object({ error: z.string() }) },
  };
}

/** The route of any task at the address of a model. */
function withAbilities(route: Route | null): Route | null {
  return route && { ...route, abilities: ABILITIES };
}

/** The route of the task of a model; null: the API has no task for the model. */
function taskRoute(
  address: readonly [path: string, suffix: string],
  served: ServedModel,
  options: ProtocolOptions,
): Route | null {
  const classifier = withCapability(served, 'text-classification');
  if (classifier) {
    const entailment = withCapability(served, 'zero-shot');
    return entailment
      ? textOrZeroShotClassification(address, classifier, entailment, options)
      : textClassification(address, classifier, options);
  }
  const labeler = withCapability(served, 'zero-shot');
  const recognizer = withCapability(served, 'entity-recognition');
  if (recognizer) {
    return labeler
      ? entitiesOrZeroShotClassification(address, recognizer, labeler, options)
      : entityRecognition(address, recognizer, options);
  }
  if (labeler) return zeroShotClassification(address, labeler, options);
  const embedder = withCapability(served, 'embedding');
  if (embedder) return featureExtraction(address, embedder, options);
  const tagger = withCapability(served, 'token-classification');
  return tagger && tokenClassification(address, tagger, options);
}

/** Percent-encodes a path segment, including characters that are special to the router. */
function encodeStrictly(segment: string): string {
  const percent = (character: string): string =>
    `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(segment).replace(/[!'()*]/g, percent);
}
