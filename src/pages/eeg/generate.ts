import { CONTINUOUS, type Recording } from '../../recordings/recording';

export interface GenerateOptions {
  readonly seconds: number;
  readonly samplingRateHz: number;
  /** Frequency of the dominant rhythm in Hz; 8 to 13 Hz is the alpha rhythm. */
  readonly rhythmHz: number;
  /** Seed of the random numbers. */
  readonly seed: number;
  /** Default: four electrodes. */
  readonly channels?: readonly string[];
}

const CHANNELS = ['T3', 'T4', 'O1', 'O2'];
const RHYTHM_UV = 14;
const NOISE_UV = 9;

/** Generates an artificial EEG: an amplitude-modulated rhythm plus 1/f noise. */
export function generate({
  seconds,
  samplingRateHz,
  rhythmHz,
  seed,
  channels: labels = CHANNELS,
}: GenerateOptions): Recording {
  const length = Math.max(1, Math.round(seconds * samplingRateHz));
  const channels = labels.map((label, index) => {
    const random = randomNumbers(seed * 31 + index);
    const samples = new Float64Array(length);
    const pink = pinkNoise(random);
    let phase = random() * 2 * Math.PI;
    for (let i = 0; i < length; i++) {
      const t = i / samplingRateHz;
      const swell = 0.55 + 0.45 * Math.sin(2 * Math.PI * 0.23 * t + index);
      phase += (2 * Math.PI * (rhythmHz + 0.6 * (random() - 0.5))) / samplingRateHz;
      samples[i] = RHYTHM_UV * swell * Math.sin(phase) + NOISE_UV * pink();
    }
    return { label, isNamed: true, unit: 'µV', samplingRateHz, samples, segments: CONTINUOUS };
  });
  return {
    name: `Generated, ${rhythmHz} Hz rhythm`,
    channels,
    unreadable: [],
    annotations: [],
    startTime: null,
    notes: ['This recording is artificial: predictions are meaningless.'],
  };
}

/** Approximate 1/f noise by the Voss algorithm: a sum of octaves, each updated half as often as the previous. */
function pinkNoise(random: () => number): () => number {
  const octaves = Array.from({ length: 7 }, () => random() - 0.5);
  let step = 0;
  return () => {
    step++;
    let sum = random() - 0.5;
    for (let octave = 0; octave < octaves.length; octave++) {
      if (step % 2 ** octave === 0) octaves[octave] = random() - 0.5;
      sum += octaves[octave] as number;
    }
    return sum;
  };
}

/** Random number generator mulberry32, uniform in [0, 1). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
