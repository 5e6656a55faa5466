import { z } from 'zod';
import {
  checked,
  type ElementProblem,
  expected,
  findListProblem,
  object,
} from '../protocols/validation/fields';
import { PROBLEMS } from '../tasks/signal-classification/quality-settings';
import { MOST_INDEX, type Place, placeOf, WORDS } from './timeline';

/** From which samples are taken, in Hz: telemetry, and what is recorded inside of a head. */
const RATE = { least: 0.1, most: 200_000 };
const MOST_STEP = 100_000_000;
const MOST_MEDIAN = 101;
const MOST_DEADLINE_MS = 600_000;

/** Whole numbers and times as JSON has them. */
function whole(what: string, least: number, most: number) {
  const words = expected(`${what} from ${least} to ${most}`);
  return z.int({ error: words }).min(least, { error: words }).max(most, { error: words });
}

function within(what: string, least: number, most: number) {
  const words = expected(`${what} from ${least} to ${most}`);
  return z.number({ error: words }).min(least, { error: words }).max(most, { error: words });
}

const PLACES = `${WORDS.index}, ${WORDS.seconds} or ${WORDS.date}`;

const PLACE_SCHEMA = {
  anyOf: [
    { type: 'integer', minimum: 0, description: 'The number of the sample' },
    {
      type: 'object',
      properties: { seconds: { type: 'number' } },
      required: ['seconds'],
      description: 'Seconds of any clock',
    },
    { type: 'string', format: 'date-time', description: 'A time of the world' },
  ],
} as const;

const place = checked<Place>(
  (value) => (placeOf(value) ? null : { message: expected(PLACES)({ input: value }), path: [] }),
  (value) => placeOf(value) as Place,
);

/** A number, or null where there is none. Larger ones than a double holds come as infinite. */
function findSampleProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'number' || value === null) return null;
  return { message: 'expected a number or null', path: [] };
}

const SAMPLES = 'an array of numbers';
export const SAMPLES_SCHEMA = {
  type: 'array',
  items: { type: ['number', 'null'] },
  description: 'In any linear unit; null: there is none, and no window with it is asked about',
} as const;

const samples = checked<readonly (number | null)[]>(
  (value) => findListProblem(value, SAMPLES, findSampleProblem),
  (value) => value as readonly (number | null)[],
).meta(SAMPLES_SCHEMA);

const smoothing = z.union(
  [
    z.strictObject({
      median: whole('an odd number', 3, MOST_MEDIAN).refine((span) => span % 2 === 1, {
        error: `expected an odd number from 3 to ${MOST_MEDIAN}`,
      }),
    }),
    z.strictObject({
      exponential: z.number().gt(0).max(1).describe('The weight of the last window'),
    }),
  ],
  {
    error: expected(
      `{"median": an odd number from 3 to ${MOST_MEDIAN}} or {"exponential": a number above 0 and up to 1}`,
    ),
  },
);

const streamId = z
  .string({ error: expected('a string') })
  .regex(/^[\w-]{1,64}$/, 'expected the id of a stream');

const windowNumber = whole('the number of a window', 0, MOST_INDEX);

/** The first message of a stream that goes on, whose connection was broken. */
export const resumption = object({
  resume: object({
    stream: streamId.describe('As the stream was opened with'),
    next_window: windowNumber.describe('The first one that has not been received'),
  }),
});

/** The first message of a stream. */
export const opening = object({
  sampling_rate_hz: within('a rate in Hz', RATE.least, RATE.most).describe(
    "Of the samples that will be sent; another one than the model's is resampled",
  ),
  step: whole('a number of samples', 1, MOST_STEP)
    .optional()
    .describe('From one window to the next, in samples that are sent; left out: a window'),
  start: place
    .prefault(0)
    .meta({ ...PLACE_SCHEMA, description: 'Where the first sample is; answers say times alike' }),
  format: z
    .enum(['json', 'f32'], { error: expected('"json" or "f32"') })
    .default('json')
    .describe('Of samples: arrays of numbers, or binary messages of little-endian float32'),
  patient_id: z
    .string({ error: expected('a string or null') })
    .nullable()
    .default(null)
    .describe('Comes back once, and is written nowhere'),
  smoothing: smoothing
    .nullable()
    .default(null)
    .describe('Over windows, beside what the model says of each'),
  deadline_ms: whole('a number of milliseconds', 1, MOST_DEADLINE_MS)
    .nullable()
    .default(null)
    .describe(
      'From when the last sample of a window came until the model begins with it: later ones are ' +
        'skipped. null: all are answered, and who sends faster is slowed',
    ),
  first_window: windowNumber.default(0).describe('The number of the first window'),
});

/** The body of POST /stream: the first message, and where all or some samples are known already, those. */
export const openingBody = opening.extend({
  samples: samples.optional(),
  end: z
    .boolean({ error: expected('true or false') })
    .default(false)
    .describe('There are no more samples than these'),
});

/** The messages of a client after the first, but for arrays and binary ones, which are samples: by their keys. */
export const CONTROLS = {
  samples: object({ samples, at: place.meta(PLACE_SCHEMA).optional() }),
  at: object({ at: place.meta(PLACE_SCHEMA) }),
  gap: object({ gap: whole('a number of samples', 1, MOST_INDEX) }),
  received: object({ received: windowNumber }),
  end: object({ end: z.literal(true, { error: expected('true') }) }),
};

export type Opening = z.output<typeof opening>;

/** What is sent in each class's place of `probabilities`. */
const probabilities = z
  .record(z.string(), z.number())
  .describe('Of all classes, by name, four decimals');

const labelled = {
  diagnosis: z.string().nullable().describe('null: the window was not asked about'),
  confidence: z.number().nullable().describe('Its probability, four decimals'),
  probabilities: probabilities.nullable(),
};

const time = z
  .union([z.number(), z.string()])
  .describe('Of its first sample, as "start" says times; of numbers of samples in seconds');

/** What is answered to a window. */
export const windowAnswer = z.object({
  window: z.int(),
  first_sample: z.int().describe('The number of the sample at or right before its beginning'),
  time,
  ...labelled,
  quality: z.object({
    problems: z.array(z.enum(PROBLEMS)),
    peak_to_peak: z.number().nullable().describe('In the unit of the samples'),
    mains_share: z.number().nullable().describe('Of the power, that mains have; null: unseen'),
  }),
  skipped: z.int().optional().describe('Windows before this one that are not answered'),
  smoothed: z.object(labelled).optional(),
  error: z.string().optional().describe('Why the model gave no answer'),
});

export type WindowAnswer = z.output<typeof windowAnswer>;

export const openedAnswer = z.object({
  stream: z.string().describe('Unguessable; for "resume"'),
  patient_id: z.string().nullable(),
  model: z.string(),
  classes: z.array(z.string()),
  window_length: z.int().describe('Samples, at the rate of the model'),
  step: z.int(),
  sampling_rate_hz: z.number(),
  resampled_to_hz: z.number().nullable().describe('null: samples are taken as they come'),
  delay_ms: z
    .number()
    .describe('How much later than its last sample a window is complete: the filter looks ahead'),
  next_window: z.int(),
  next_sample: z.int().describe('The number of the next sample that is waited for'),
  resumed: z.boolean(),
});

export type OpenedAnswer = z.output<typeof openedAnswer>;

/** To whoever brings samples: how far the stream has come. */
export const takenAnswer = z.object({
  next_window: z.int().describe('The first one that has not been answered'),
  next_sample: z.int().describe('The first one that has not been taken'),
});

export const gapAnswer = z.object({
  gap: z.object({ first_sample: z.int(), samples: z.int(), time }),
});

export type GapAnswer = z.output<typeof gapAnswer>;

export const endAnswer = z.object({
  end: z.object({
    windows: z.int().describe('Answered ones'),
    skipped: z.int(),
    next_window: z.int(),
    next_sample: z.int(),
  }),
});

export const errorAnswer = z.object({
  error: z.object({ code: z.int(), detail: z.string() }),
});
