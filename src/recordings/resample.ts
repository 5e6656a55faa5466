/** Zero crossings of the sinc on each side: more of them make the transition band narrower. */
const ZERO_CROSSINGS = 32;
/** Of the lower Nyquist frequency; the transition band ends at it. */
const PASSBAND = 0.92;
/** Kaiser's β: side lobes below −80 dB. */
const BETA = 8;
/** Entries of the kernel's table between two zero crossings; linear in between. */
const TABLE_STEPS = 512;

/**
 * A signal at another sampling rate, by interpolation with a windowed sinc (Smith, "Digital Audio
 * Resampling", https://ccrma.stanford.edu/~jos/resample). Downwards, the sinc is as wide as the new
 * rate asks, which takes away what would be aliased. A constant stays what it is, at the ends too.
 *
 * @param samples at `from` Hz
 * @returns samples at `to` Hz, the first at the same time
 */
export function resample(samples: Float64Array, from: number, to: number): Float64Array {
  if (from === to) return samples.slice();
  const length = Math.max(1, Math.floor(((samples.length - 1) * to) / from + 1e-9) + 1);
  const output = new Float64Array(length);
  const cutoff = Math.min(1, to / from) * PASSBAND;
  const reach = ZERO_CROSSINGS / cutoff;
  for (let at = 0; at < length; at++) {
    const center = (at * from) / to;
    const first = Math.max(0, Math.ceil(center - reach));
    const last = Math.min(samples.length - 1, Math.floor(center + reach));
    let sum = 0;
    let weights = 0;
    for (let k = first; k <= last; k++) {
      const weight = kernel(Math.abs(center - k) * cutoff);
      sum += weight * (samples[k] as number);
      weights += weight;
    }
    output[at] = sum / weights;
  }
  return output;
}

const table = makeTable();

/** @param x zero crossings from the centre, 0 to ZERO_CROSSINGS */
function kernel(x: number): number {
  const place = x * TABLE_STEPS;
  const index = Math.floor(place);
  const below = table[index] as number;
  return below + (place - index) * ((table[index + 1] as number) - below);
}

function makeTable(): Float64Array {
  const values = new Float64Array(ZERO_CROSSINGS * TABLE_STEPS + 2);
  for (let i = 0; i < values.length - 2; i++) {
    const x = i / TABLE_STEPS;
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
    const window = bessel(BETA * Math.sqrt(1 - (x / ZERO_CROSSINGS) ** 2)) / bessel(BETA);
    values[i] = sinc * window;
  }
  return values; // beyond the last crossing it is 0
}

/** Modified Bessel function of the first kind, order 0, by its power series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > 1e-17 * sum; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
