import { z } from 'zod';
import type { SIGNAL_INFO } from '../../../tasks/signal-classification/signal-classification-task';
import type { TEXT_INFO } from '../../../tasks/text-classification/text-classification-task';

const fourDecimals = z.number().describe('Four decimals');

const probabilities = z
  .record(z.string(), fourDecimals)
  .describe('Of all labels, by name, four decimals; of a regression model its outputs');

/** Every error, of every route. */
export const errorAnswer = z.object({
  detail: z.string().describe('One line: what is wrong, and where'),
});

export const healthAnswer = z.object({
  status: z.literal('healthy'),
  model_loaded: z.boolean(),
});

export const readyAnswer = z.object({ ready: z.literal(true) });

export const analyzeAnswer = z.object({
  input_text: z.string().describe('The text as it was sent'),
  input_text_pair: z.string().optional().describe('The second text as it was sent, if one was'),
  label: z.string().describe('One of the labels of the model'),
  score: fourDecimals.describe("The label's probability; four decimals"),
  windows: z
    .array(
      z.object({
        start: z.int().describe('First UTF-16 unit of the text'),
        end: z.int().describe('Behind the last one'),
        label: z.string(),
        score: fourDecimals,
      }),
    )
    .optional()
    .describe('Where the text was to be read in windows'),
});

export const analyzeBatchAnswer = z.object({
  results: z.array(
    analyzeAnswer.extend({
      probabilities,
      truncated: z.boolean().describe('The text was longer than the model takes, and was cut'),
    }),
  ),
});

export const predictAnswer = z.object({
  patient_id: z.string().nullable().describe('As it was sent'),
  diagnosis: z.string().describe('One of the classes of the model'),
  confidence: z.number().min(0).max(1).describe("The class's probability; four decimals"),
});

export const predictBatchAnswer = z.object({
  results: z.array(predictAnswer.extend({ probabilities })),
});

export const zeroShotAnswer = z.object({
  input_text: z.string().describe('The text as it was sent'),
  labels: z.array(z.string()).describe('Those of the request, by falling score'),
  scores: z.array(fourDecimals),
});

const model = z.object({
  name: z.string(),
  version: z.string().nullable(),
  loaded: z.boolean(),
  reason: z.string().nullable().describe('Why it is not loaded'),
  dtype: z.string().optional().describe('Numbers in which it multiplies'),
  products: z
    .object({
      linear: z.string().describe('Numbers and instructions of its linear layers'),
      attention: z.string().optional().describe('The same of its attention'),
      instructions: z.string().describe('The most that may be used (INSTRUCTIONS)'),
    })
    .optional()
    .describe('What multiplies: the same on two replicas, the same answers to the last bit'),
});

/** Of GET /info, whatever is served. */
export const serviceAnswer = {
  version: z.string().describe('Of libtorch-serve'),
  limits: z.object({
    body_bytes: z.int().describe('Largest body (413)'),
    list_length: z.int().describe('Longest list (413)'),
    request_timeout_ms: z.int().describe('Longest wait for the model (504)'),
  }),
};

/** GET /info of a service whose model has these fields of its own; they are there once it is loaded. */
export function infoAnswer<Service extends string, Fields extends z.ZodRawShape>(
  name: Service,
  fields: Fields,
) {
  return z.object({ service: z.literal(name), model: model.extend(fields), ...serviceAnswer });
}

export type AnalyzeAnswer = z.infer<typeof analyzeAnswer>;
export type AnalyzeBatchAnswer = z.infer<typeof analyzeBatchAnswer>;
export type PredictAnswer = z.infer<typeof predictAnswer>;
export type PredictBatchAnswer = z.infer<typeof predictBatchAnswer>;
export type ZeroShotAnswer = z.infer<typeof zeroShotAnswer>;
export type HealthAnswer = z.infer<typeof healthAnswer>;
type Info<Service extends string, Fields extends z.ZodRawShape> = z.infer<
  ReturnType<typeof infoAnswer<Service, Fields>>
>;
export type SentimentInfo = Info<'sentiment', typeof TEXT_INFO>;
export type EegInfo = Info<'eeg', typeof SIGNAL_INFO>;
/** Of any task. */
export type ServiceInfo = Info<string, Record<never, never>>;
