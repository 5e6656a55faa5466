/** Relative difference below which two sampling rates are equal: amplifiers and files report rates with few digits. */
const TOLERANCE = 0.005;

/** Whether a sampling rate is the rate of a model, both in Hz. */
export function isSameRate(rate: number, modelRate: number): boolean {
  return Math.abs(rate - modelRate) <= TOLERANCE * modelRate;
}
