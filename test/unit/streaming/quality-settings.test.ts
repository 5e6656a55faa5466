import { parseModelSettings } from '../../../src/tasks/signal-classification/model-settings';
import { toQualitySettings } from '../../../src/tasks/signal-classification/quality-settings';
import {
  DEFAULT_QUALITY,
  QUALITY_FLAGS,
} from '../../../src/tasks/signal-classification/quality-thresholds';

function read(quality: unknown) {
  return toQualitySettings(parseModelSettings(JSON.stringify({ quality }), 'a.json').quality);
}

describe('"quality" of a model\'s settings', () => {
  it('says what it says, and leaves the rest as it is', () => {
    expect(read(undefined)).toEqual(DEFAULT_QUALITY);
    expect(read({ flat_below: 0.5, mains_hz: [50], unusable: ['flat', 'clipped'] })).toEqual({
      ...DEFAULT_QUALITY,
      flatBelow: 0.5,
      mainsHz: [50],
      unusable: ['flat', 'clipped'],
    });
    const all = {
      flat_below: 1,
      clipped_share: 0.1,
      amplitude_range: [-100, 100],
      jump_above: 50,
      mains_hz: [],
      mains_share: 0.2,
      unusable: QUALITY_FLAGS,
    };
    expect(read(all)).toEqual({
      flatBelow: 1,
      clippedShare: 0.1,
      amplitudeRange: [-100, 100],
      jumpAbove: 50,
      mainsHz: [],
      mainsShare: 0.2,
      unusable: QUALITY_FLAGS,
    });
  });

  it.each<[unknown, RegExp]>([
    [3, /^a\.json: quality: expected an object/],
    [
      { flat: 1 },
      /^a\.json: quality\.flat: unknown key, expected one of flat_below, clipped_share/,
    ],
    [
      { flat_below: -1 },
      /^a\.json: quality\.flat_below: expected a number of 0 or more, found -1$/,
    ],
    [
      { clipped_share: 0 },
      /^a\.json: quality\.clipped_share: expected a share, above 0 and up to 1/,
    ],
    [{ amplitude_range: [5, 1] }, /^a\.json: quality\.amplitude_range: expected two numbers/],
    [{ amplitude_range: 5 }, /^a\.json: quality\.amplitude_range: expected two numbers/],
    [
      { jump_above: 'x' },
      /^a\.json: quality\.jump_above: expected a number of 0 or more, found "x"$/,
    ],
    [{ mains_hz: 50 }, /^a\.json: quality\.mains_hz: expected an array of frequencies in Hz/],
    [{ mains_hz: [0] }, /^a\.json: quality\.mains_hz\[0\]: expected a number of Hz above 0/],
    [{ mains_share: 2 }, /^a\.json: quality\.mains_share: expected a share/],
    [{ unusable: ['noise'] }, /^a\.json: quality\.unusable\[0\]: expected one of not_finite, flat/],
  ])('%j is told with its key', (quality, message) => {
    expect(() => read(quality)).toThrow(message);
  });
});
