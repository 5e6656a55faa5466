import { z } from 'zod';
import { softmax } from '../../lib/numbers';
import { ModelFileError } from '../../models/files';
import {
  findLayaFolder,
  isLaya,
  LAYA_CONFIG,
  type LayaMetadata,
  readLaya,
} from '../../models/laya/directory';
import type { Inference } from '../../native/engine';
import { withCalibratedDecisions } from '../calibration/decision-calibration';
import type { ModelMetadata } from '../predictor';
import type { Task } from '../task';
import { type LayaInput, type LayaType, layaRecipe } from './laya-sequence';
import { type OptionLogits, toOptionLogits } from './option-logits';
import { optionTensors } from './option-tensors';

const read = withCalibratedDecisions(readLaya);

export type LayaModelMetadata = LayaMetadata & ModelMetadata;

/** Probabilities of the options. Source: laya, agent.py (`_decode_answers`), common.py (`temp_bucket`). */
export function layaProbabilities(
  logits: Float32Array,
  type: LayaType,
  { temperatures, temperaturesByOptions }: LayaMetadata,
): Float32Array {
  const count = logits.length;
  const size = count <= 2 ? '2' : count <= 5 ? '3-5' : count <= 10 ? '6-10' : '11+';
  const [choice = 1, score = 1, noul = 1] = temperatures;
  const key = `${type}:${size}`;
  const temperature = Object.hasOwn(temperaturesByOptions, key)
    ? (temperaturesByOptions[key] as number)
    : { choice, score, noul }[type];
  return softmax(logits.map((logit) => logit / temperature));
}

export interface LayaPrediction extends OptionLogits {
  /** Probability that an agent should act on the answer. */
  readonly actProbability: number;
}

/** The model returns the logits of the options, then the probability. @throws EngineError INFERENCE_FAILED */
function toPrediction(inference: Inference, index: number | null): LayaPrediction {
  const { logits } = toOptionLogits(inference, index);
  const count = logits.length - 1;
  return { logits: logits.subarray(0, count), actProbability: logits[count] as number, inference };
}

/** Typed questions about texts, with Laya models. */
export const laya: Task<LayaInput, LayaPrediction, LayaModelMetadata> = {
  name: 'laya',
  summary: 'Typed questions about texts, as `laya.Agent` answers them.',
  disclaimer: null,
  inputKind: 'texts',
  capabilities: ['decision'],
  resolveModelPath: findLayaFolder,
  findModelPaths: (folder) => (isLaya(folder) ? [folder] : []),
  isDeclaredFor: isLaya,
  listFiles: (directory) => read(directory).files,
  read,
  validateLoaded: (description, { maxLength }) => {
    if (description.maxLength >= maxLength) return [];
    throw new ModelFileError(
      `${LAYA_CONFIG}: max_len: expected at most ${description.maxLength}, the positions of the encoder, received ${maxLength}`,
    );
  },
  prepare: layaRecipe,
  toPrediction: (inference, _, index) => toPrediction(inference, index),
  logFields: () => ({}),
  info: {
    schemas: {
      max_length: z.int().optional().describe('Tokens of a question, its options and the text'),
    },
    of: ({ maxLength }) => ({ max_length: maxLength }),
  },
  tensors: optionTensors<LayaInput, LayaModelMetadata>({
    toInput: (state, options, instructions) => ({
      state,
      truncationSide: 'right',
      question: {
        type: 'choice',
        instructions,
        options: options.map((label) => ({ label, description: null })),
      },
    }),
    toProbabilities: (logits, metadata) => layaProbabilities(logits, 'choice', metadata),
  }),
  page: 'decisions',
};
