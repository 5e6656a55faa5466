import { z } from 'zod';
import {
  checked,
  describeFirstIssue,
  type ElementProblem,
  expected,
  findListProblem,
  nameList,
  object,
} from '../protocols/validation/fields';
import { ServiceError } from '../serving/errors';
import { parseJson } from '../serving/json';
import { CLOSE, SessionError } from '../serving/session';
import { QUALITY_FLAGS } from '../tasks/signal-classification/quality-thresholds';
import { ANY_POSITION, MAX_SAMPLE_INDEX, parsePosition, type SamplePosition } from './timeline';

/** Range of sampling rates in Hz: from telemetry to intracranial recordings. */
const RATE = { min: 0.1, max: 200_000 };
const MAX_STEP = 100_000_000;
const MAX_MEDIAN = 101;
const MAX_DEADLINE_MS = 600_000;
function integer(noun: string, min: number, max: number) {
  const error = expected(`${noun} from ${min} to ${max}`);
  return z.int({ error }).min(min, { error }).max(max, { error });
}

const POSITION_SCHEMA = {
  anyOf: [
    { type: 'integer', minimum: 0, description: 'Number of the sample' },
    {
      type: 'object',
      properties: { seconds: { type: 'number' } },
      required: ['seconds'],
      description: 'Seconds on any clock',
    },
    { type: 'string', format: 'date-time', description: 'Date and time' },
  ],
} as const;

const expectedPosition = expected(ANY_POSITION);

const position = checked<SamplePosition>(
  (value) =>
    parsePosition(value) ? null : { message: expectedPosition({ input: value }), path: [] },
  (value) => parsePosition(value) as SamplePosition,
);

/** Numbers beyond the float64 range are parsed as infinite. */
function findSampleProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'number' || value === null) return null;
  if (Array.isArray(value)) return findListProblem(value, 'a frame', findValueProblem);
  return { message: 'expected a number or null', path: [] };
}

/** Problem of a value of a frame of several channels. */
function findValueProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'number' || value === null) return null;
  return { message: 'expected a number or null', path: [] };
}

export const SAMPLES_SCHEMA = {
  type: 'array',
  items: {
    anyOf: [
      { type: ['number', 'null'] },
      {
        type: 'array',
        items: { type: ['number', 'null'] },
        description: 'A frame of all channels',
      },
    ],
  },
  description:
    'Samples in any linear unit. null: missing; windows with missing samples get no prediction. Several channels: frames as arrays, or the values of frames one after another',
} as const;

/** A value, or a frame with a value per channel. null: missing. */
export type Sample = number | null | readonly (number | null)[];

const samples = checked<readonly Sample[]>(
  (value) => findListProblem(value, 'an array of numbers', findSampleProblem),
  (value) => value as readonly Sample[],
).meta(SAMPLES_SCHEMA);

const smoothing = z.union(
  [
    z.strictObject({
      median: integer('an odd number', 3, MAX_MEDIAN).refine((span) => span % 2 === 1, {
        error: `expected an odd number from 3 to ${MAX_MEDIAN}`,
      }),
    }),
    z.strictObject({
      exponential: z.number().gt(0).max(1).describe('Weight of the current window'),
    }),
  ],
  {
    error: expected(
      `{"median": an odd number from 3 to ${MAX_MEDIAN}} or {"exponential": a number above 0 and up to 1}`,
    ),
  },
);

const streamId = z
  .string({ error: expected('a string') })
  .regex(/^[\w-]{1,64}$/, 'expected the id of a stream');

const windowNumber = integer('the number of a window', 0, MAX_SAMPLE_INDEX);

/** First message of a connection that resumes a stream. */
export const resumption = object({
  resume: object({
    stream: streamId.describe('Stream id from the first response'),
    next_window: windowNumber.describe('Number of the first window without a received result'),
  }),
});

const rateError = expected(`a rate in Hz from ${RATE.min} to ${RATE.max}`);

/** First message of a new stream. */
export const streamOptions = object({
  sampling_rate_hz: z
    .number({ error: rateError })
    .min(RATE.min, { error: rateError })
    .max(RATE.max, { error: rateError })
    .describe("Sampling rate of the samples; they are resampled if the model's rate differs"),
  step: integer('a number of samples', 1, MAX_STEP)
    .optional()
    .describe(
      'Hop size: distance between the starts of consecutive windows, in input samples. Default: the window length',
    ),
  channels: nameList('an array of channel names')
    .optional()
    .meta({
      type: 'array',
      items: { type: 'string' },
      description:
        'Channels of a frame, in order. Default: the channels of the model, see GET /info',
    }),
  start: position.prefault(0).meta({
    ...POSITION_SCHEMA,
    description: 'Position of the first sample; results report times in the same format',
  }),
  format: z
    .enum(['json', 'f32'], { error: expected('"json" or "f32"') })
    .default('json')
    .describe('Format of samples: JSON arrays, or binary messages of little-endian float32'),
  patient_id: z
    .string({ error: expected('a string or null') })
    .nullable()
    .default(null)
    .describe('Returned once in the first response; never logged or stored'),
  smoothing: smoothing
    .nullable()
    .default(null)
    .describe('Smoothing over windows, reported in addition to the prediction of each window'),
  deadline_ms: integer('a number of milliseconds', 1, MAX_DEADLINE_MS)
    .nullable()
    .default(null)
    .describe(
      'Maximum time from the arrival of the last sample of a window to the start of inference; ' +
        'late windows are skipped. null: no window is skipped, and fast senders are slowed down',
    ),
  first_window: windowNumber.default(0).describe('Number of the first window'),
});

/** Body of POST /stream: the options of a stream, and optionally its first samples. */
export const streamRequest = streamOptions.extend({
  samples: samples.optional(),
  end: z
    .boolean({ error: expected('true or false') })
    .default(false)
    .describe('Whether the signal ends with these samples'),
});

/** Messages after the first by their key. Arrays and binary messages are samples. */
export const CONTROLS = {
  samples: object({ samples, at: position.meta(POSITION_SCHEMA).optional() }),
  at: object({ at: position.meta(POSITION_SCHEMA) }),
  gap: object({ gap: integer('a number of samples', 1, MAX_SAMPLE_INDEX) }),
  received: object({ received: windowNumber }),
  end: object({ end: z.literal(true, { error: expected('true') }) }),
};

export type StreamOptions = z.output<typeof streamOptions>;

const prediction = {
  diagnosis: z
    .string()
    .nullable()
    .describe('Class with the highest probability; null: no prediction'),
  confidence: z.number().nullable().describe('Probability of the diagnosis, rounded to 4 decimals'),
  probabilities: z
    .record(z.string(), z.number())
    .describe('Probability by class, rounded to 4 decimals')
    .nullable(),
};

const time = z
  .union([z.number(), z.string()])
  .describe(
    'Time of the first sample, in the format of "start"; in seconds if "start" is a number',
  );

/** Result of one window. */
export const windowResult = z.object({
  window: z.int().describe('Number of the window'),
  first_sample: z.int().describe('Index of the last sample at or before the start of the window'),
  time,
  ...prediction,
  quality: z.object({
    problems: z.array(z.enum(QUALITY_FLAGS)),
    peak_to_peak: z
      .number()
      .nullable()
      .describe('Peak-to-peak amplitude in the unit of the samples'),
    mains_share: z
      .number()
      .nullable()
      .describe('Share of the power at a mains frequency; null: above the Nyquist frequency'),
  }),
  skipped: z.int().optional().describe('Number of skipped windows directly before this window'),
  smoothed: z.object(prediction).optional(),
  error: z.string().optional().describe('Why inference failed'),
});

export type WindowResult = z.output<typeof windowResult>;

/** Response to POST /stream/ID: the progress of the stream. */
export const streamCursor = z.object({
  next_window: z.int().describe('Number of the first window without a sent result'),
  next_sample: z.int().describe('Number of the next expected sample'),
});

/** First response of a stream. */
export const streamOpened = z.object({
  stream: z.string().describe('Unguessable id, for "resume"'),
  patient_id: z.string().nullable(),
  model: z.string(),
  classes: z.array(z.string()),
  channels: z.array(z.string()).optional().describe('Channels of a frame, in order'),
  interpolated: z
    .array(z.string())
    .optional()
    .describe('Channels of the model that the frames lack: they are computed from the others'),
  window_length: z.int().describe("Window length in samples, at the model's sampling rate"),
  step: z.int().describe('Hop size in samples sent'),
  sampling_rate_hz: z.number(),
  resampled_to_hz: z.number().nullable().describe('null: samples are not resampled'),
  delay_ms: z
    .number()
    .describe(
      'Look-ahead of the resampling filter: time from the last sample of a window to the complete window',
    ),
  ...streamCursor.shape,
  resumed: z.boolean(),
});

export type StreamOpened = z.output<typeof streamOpened>;

/** Notice that windows restart after missing samples. */
export const gapNotice = z.object({
  gap: z.object({
    first_sample: z.int().describe('Number of the first missing sample'),
    samples: z.int().describe('Number of missing samples'),
    time,
  }),
});

export type GapNotice = z.output<typeof gapNotice>;

export const streamEnd = z.object({
  end: z.object({
    windows: z.int().describe('Number of windows with a result'),
    skipped: z.int().describe('Number of skipped windows'),
    ...streamCursor.shape,
  }),
});

export const streamError = z.object({
  error: z.object({ code: z.int().describe('Close code'), detail: z.string() }),
});

/** Parses a JSON message. @throws SessionError */
export function decodeJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new SessionError(CLOSE.INVALID, error.message.replace(/^body: /, 'message: '));
  }
}

/** Validates a message. @throws SessionError that names the field */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = describeFirstIssue(result.error).replace(/^body: /, 'message: ');
  throw new SessionError(CLOSE.INVALID, issue);
}
