import { z } from 'zod';
import { roundToFourDecimals } from '../../lib/numbers';
import { mapInTimeSlices } from '../../lib/time-slice';
import { channelWindow } from '../../services/channel-windows';
import { classify, namedScores } from '../../services/classify';
import { admissionErrorOf, requireListLength, requireModel } from '../../services/inference';
import { ElementError } from '../../serving/errors';
import type { SignalClassifier } from '../../tasks/capabilities';
import type { ServedModel } from '../../tasks/served-model';
import type { ChannelSignals } from '../../tasks/signal-classification/channel-signals';
import type { ModelSettings } from '../../tasks/signal-classification/model-settings';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import {
  checked,
  type ElementProblem,
  expected,
  findListProblem,
  findNumberProblem,
  listOf,
  MAX_NAMES,
  nameList,
  object,
} from '../validation/fields';
import { disclaimerOf, listFields, patient_id, response as windowResponse } from './predict';

const NUMBERS = 'an array of numbers';
const SIGNALS = 'an object of channels, or an array of channels';

const SIGNALS_SCHEMA = {
  anyOf: [
    { type: 'object', additionalProperties: { type: 'array', items: { type: 'number' } } },
    { type: 'array', items: { type: 'array', items: { type: 'number' } } },
  ],
  description:
    'Samples of one window: arrays by the name of the channel, or rows in the order of `channels`',
} as const;

function findChannelProblem(value: unknown): ElementProblem | null {
  return findListProblem(value, NUMBERS, findNumberProblem);
}

function findSignalsProblem(value: unknown): ElementProblem | null {
  if (typeof value !== 'object' || value === null) {
    return { message: expected(SIGNALS)({ input: value }), path: [] };
  }
  const keys = Object.keys(value);
  if (keys.length === 0 || keys.length > MAX_NAMES) {
    const message = `expected 1 to ${MAX_NAMES} channels, found ${keys.length}`;
    return { message, path: [] };
  }
  if (Array.isArray(value)) return findListProblem(value, SIGNALS, findChannelProblem);
  for (const [name, samples] of Object.entries(value)) {
    const problem = findChannelProblem(samples);
    if (problem) return { message: problem.message, path: [name, ...problem.path] };
  }
  return null;
}

const common = {
  channels: nameList('an array of channel names')
    .optional()
    .meta({
      type: 'array',
      items: { type: 'string' },
      description: 'Channels of the rows. Default: the channels of the model, see GET /info',
    }),
  sampling_rate_hz: z
    .number({ error: expected('a rate in Hz from 0.1 to 200000') })
    .min(0.1, { error: expected('a rate in Hz from 0.1 to 200000') })
    .max(200_000, { error: expected('a rate in Hz from 0.1 to 200000') })
    .optional()
    .describe('Sampling rate of the samples, which are resampled. Default: that of the model'),
  patient_id,
};

const predictChannelsRequest = object({
  signals: checked(findSignalsProblem, (value) => value as ChannelSignals).meta(SIGNALS_SCHEMA),
  ...common,
});

const predictChannelsBatchRequest = object({
  windows: listOf<ChannelSignals>('an array of windows', findSignalsProblem).meta({
    type: 'array',
    items: SIGNALS_SCHEMA,
    description: 'Windows of one patient',
  }),
  ...common,
});

const response = windowResponse.extend({
  interpolated: z
    .array(z.string())
    .describe('Channels that the request lacks, computed from the others'),
});

const batchResponse = z.object({ results: z.array(response.extend(listFields)) });

export type PredictChannelsResponse = z.infer<typeof response>;
export type PredictChannelsBatchResponse = z.infer<typeof batchResponse>;

const ERRORS = [...MODEL_ERRORS, 'INPUT_LENGTH'] as const;

/** POST /predict of a multi-channel model: classifies one window. */
export function predictChannels(
  served: ServedModel<SignalClassifier>,
  settings: ModelSettings,
): Route {
  return route({
    method: 'POST',
    path: '/predict',
    abilities: ['signal-classification'],
    operationId: 'predictChannels',
    summary: 'Classify a window of several channels',
    description: describe(served, settings),
    request: predictChannelsRequest,
    response,
    examples: null,
    errors: ERRORS,
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { signals, channels, sampling_rate_hz, patient_id }) => {
      const model = requireModel(served.model);
      const given = { channels, samplingRateHz: sampling_rate_hz };
      const window = channelWindow(settings, signals, given, 'signals');
      const prediction = await model.run(window, call.inferOptions(served));
      const body: PredictChannelsResponse = {
        patient_id,
        diagnosis: prediction.label,
        confidence: roundToFourDecimals(prediction.score),
        interpolated: [...(prediction.interpolated ?? [])],
      };
      return { body, inferences: [prediction.inference] };
    },
  });
}

/** POST /predict/batch of a multi-channel model: classifies several windows of one patient. */
export function predictChannelsBatch(
  served: ServedModel<SignalClassifier>,
  settings: ModelSettings,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/predict/batch',
    abilities: ['signal-classification'],
    operationId: 'predictChannelsBatch',
    summary: 'Classify several windows of several channels, with the probabilities of all classes',
    description: describe(served, settings),
    request: predictChannelsBatchRequest,
    limits: { windows: { maxItems: listLength, items: SIGNALS_SCHEMA } },
    response: batchResponse,
    examples: null,
    errors: [...ERRORS, 'LIST_TOO_LONG'],
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { windows, channels, sampling_rate_hz, patient_id }) => {
      requireListLength(windows, 'windows', listLength);
      const { labels } = requireModel(served.model).metadata;
      const given = { channels, samplingRateHz: sampling_rate_hz };
      const inputs = await mapInTimeSlices(windows, (signals, index) => {
        try {
          return channelWindow(settings, signals, given, 'signals');
        } catch (error) {
          throw new ElementError(`windows[${index}]`, error as Error);
        }
      });
      const { predictions, inferences } = await classify(call, served, {
        inputs,
        field: 'windows',
        responseLimit,
      });
      const results = await mapInTimeSlices(predictions, (prediction) => ({
        patient_id,
        diagnosis: prediction.label,
        confidence: roundToFourDecimals(prediction.score),
        interpolated: [...(prediction.interpolated ?? [])],
        probabilities: namedScores(labels, prediction.scores),
      }));
      return { body: { results } satisfies PredictChannelsBatchResponse, inferences };
    },
  });
}

function describe(
  served: ServedModel<SignalClassifier>,
  { channels, windowLength, samplingRateHz }: ModelSettings,
): string {
  const names = channels?.inputs.join(', ');
  const window = `${windowLength} samples per channel at ${samplingRateHz} Hz. Channels: ${names}.`;
  return `${disclaimerOf(served) ?? ''} ${window}`.trim();
}
