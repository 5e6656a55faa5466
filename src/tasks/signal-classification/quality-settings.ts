import { z } from 'zod';
import { expected } from '../../models/json';
import { DEFAULT_QUALITY, QUALITY_FLAGS, type QualitySettings } from './quality-thresholds';

const share = z
  .number(expected('a share, above 0 and up to 1'))
  .gt(0, expected('a share, above 0 and up to 1'))
  .max(1, expected('a share, above 0 and up to 1'));

const least = (what: string) => z.number(expected(what)).min(0, expected(what));

const RANGE = 'two numbers, the lowest and the highest value';

const keys = {
  flat_below: least('a number of 0 or more')
    .optional()
    .describe('Maximum peak-to-peak amplitude of a flat window. Default: 0'),
  clipped_share: share
    .optional()
    .describe(
      'Minimum share of clipped samples: runs of 3 or more at the minimum or maximum. Default: 0.02',
    ),
  amplitude_range: z
    .tuple([z.number(expected('a number')), z.number(expected('a number'))], expected(RANGE))
    .refine(([low, high]) => low < high, expected(RANGE))
    .optional()
    .describe('Minimum and maximum valid sample. Default: no limits'),
  jump_above: least('a number of 0 or more')
    .optional()
    .describe('Maximum difference between consecutive samples. Default: no limit'),
  mains_hz: z
    .array(z.number(expected('a number of Hz')).positive(expected('a number of Hz above 0')), {
      ...expected('an array of frequencies in Hz'),
    })
    .max(2, expected('at most 2 frequencies'))
    .optional()
    .describe('Mains frequencies in Hz. Default: 50 and 60'),
  mains_share: share
    .optional()
    .describe('Minimum share of the power of a window at mains frequencies. Default: 0.5'),
  unusable: z
    .array(z.enum(QUALITY_FLAGS, expected(`one of ${QUALITY_FLAGS.join(', ')}`)), {
      ...expected('an array of problems'),
    })
    .optional()
    .describe(
      'Flags of windows that the model skips. Windows with `not_finite` are always skipped',
    ),
};

/** Schema of the object "quality" in model settings. */
export const qualitySchema = z.strictObject(keys, {
  error: ({ code }) =>
    code === 'unrecognized_keys'
      ? `unknown key, expected one of ${Object.keys(keys).join(', ')}`
      : 'expected an object',
});

export function toQualitySettings(
  given: z.output<typeof qualitySchema> | undefined,
): QualitySettings {
  const usual = DEFAULT_QUALITY;
  if (given === undefined) return usual;
  return {
    flatBelow: given.flat_below ?? usual.flatBelow,
    clippedShare: given.clipped_share ?? usual.clippedShare,
    amplitudeRange: given.amplitude_range ?? usual.amplitudeRange,
    jumpAbove: given.jump_above ?? usual.jumpAbove,
    mainsHz: given.mains_hz ?? usual.mainsHz,
    mainsShare: given.mains_share ?? usual.mainsShare,
    unusable: given.unusable ?? usual.unusable,
  };
}
