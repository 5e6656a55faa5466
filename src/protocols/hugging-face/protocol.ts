import { z } from 'zod';
import { ERRORS } from '../../serving/errors';
import type { ClassifiesTexts } from '../../tasks/abilities';
import { type Served, servedAs } from '../../tasks/served';
import { rank } from '../../tasks/text-classification/probabilities';
import {
  type Endpoint,
  parseBody,
  refusalOf,
  requireListLength,
  requireModel,
  runList,
} from '../endpoint';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { Protocol, Surroundings } from '../protocol';
import { classificationBody } from './body';
import { FAILURES } from './failures';
import { tokenClassification } from './token-classification';
import { withZeroShot } from './zero-shot';

const MODELS = '/models/';

const answer = z.array(z.array(z.object({ label: z.string(), score: z.number() })));

const EXAMPLE = {
  request: { inputs: 'A warm, funny film.', parameters: { top_k: 1 } },
  answer: [[{ label: 'POSITIVE', score: 0.9823 }]],
};

/**
 * The Inference API of Hugging Face, for `huggingface_hub` and `@huggingface/inference`: by the address
 * of the service, and by the name of its model.
 */
export function huggingFace(served: Served, surroundings: Surroundings): Protocol | null {
  const tasks = tasksOf(served, surroundings);
  if (!tasks) return null;
  const named = MODELS + served.title.split('/').map(encodeStrictly).join('/');
  const { listLength } = surroundings;
  return {
    endpoints: [tasks.at('/', ''), tasks.at(named, 'ByName')],
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
        `The ${tasks.name} task, for \`huggingface_hub\` and \`@huggingface/inference\`. Up to ` +
        `${listLength} texts.`,
    },
    error: { name: 'HuggingFaceError', schema: z.object({ error: z.string() }) },
  };
}

/** What is asked of a model of this task, at a path; null: nothing. */
function tasksOf(served: Served, surroundings: Surroundings) {
  const classifier = servedAs(served, 'classifies texts');
  const tagger = servedAs(served, 'tags texts');
  const entailment = servedAs(served, 'entails');
  const asked = (endpoint: Endpoint) =>
    entailment ? withZeroShot(endpoint, entailment, surroundings) : endpoint;
  if (classifier) {
    const summary = 'Labels of a text, by falling score';
    return {
      name: 'text-classification',
      at: (path: string, suffix: string) =>
        asked(
          classification(classifier, surroundings, {
            ...{ path, id: `textClassification${suffix}` },
            summary: suffix === '' ? summary : 'The same by the name of the model',
          }),
        ),
    };
  }
  if (!tagger) return null;
  return {
    name: 'token-classification',
    at: (path: string, suffix: string) =>
      tokenClassification(tagger, surroundings, { path, id: `tokenClassification${suffix}` }),
  };
}

/**
 * The text-classification task: for each text its labels by falling score. A list of lists for one
 * text, too: the clients of Hugging Face take the first of it. Any text will do, an empty one as well:
 * so it is with the pipelines of transformers.
 */
function classification(
  served: Served<ClassifiesTexts>,
  { listLength }: Surroundings,
  { path, id, summary }: { readonly path: string; readonly id: string; readonly summary: string },
): Endpoint {
  const classifier = served.model;
  return {
    path,
    refusal: refusalOf(classifier),
    handle: async (call) => {
      const { inputs, parameters } = parseBody(classificationBody, call);
      const { texts, isList } = inputs;
      requireListLength(texts, 'inputs', listLength);
      const model = requireModel(classifier);
      const field = isList ? 'inputs' : null;
      const { answers, inferences } = await runList(model, texts, call.inferOptions(served), field);
      const ranking = {
        scoreFunction: parameters?.function_to_apply,
        topK: parameters?.top_k,
      };
      return { body: answers.map((one) => rank(model.about.labels, one, ranking)), inferences };
    },
    describe: () => ({
      ...{ id, summary, headers: TRUNCATED_HEADER, errors: FAILURES },
      request: { name: 'HuggingFaceRequest', schema: classificationBody, example: EXAMPLE.request },
      answer: { name: 'HuggingFaceAnswer', schema: answer, example: EXAMPLE.answer },
    }),
  };
}

/** Such that nothing of it means anything to the router. */
function encodeStrictly(segment: string): string {
  const percent = (character: string): string =>
    `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(segment).replace(/[!'()*]/g, percent);
}
