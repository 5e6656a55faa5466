/** Samples as messages bring them, in float64. */

/** @param values numbers, and null where there is none */
export function fromNumbers(values: readonly (number | null)[]): Float64Array {
  const samples = new Float64Array(values.length);
  for (let i = 0; i < samples.length; i++) samples[i] = values[i] ?? Number.NaN;
  return samples;
}

/** The first that is no number and not null; −1: there is none. */
export function findNoSample(values: readonly unknown[]): number {
  for (let i = 0; i < values.length; i++) {
    if (typeof values[i] !== 'number' && values[i] !== null) return i;
  }
  return -1;
}

/** Little-endian float32; null: it is no whole number of them. */
export function fromFloat32(bytes: Buffer): Float64Array | null {
  const length = bytes.length / Float32Array.BYTES_PER_ELEMENT;
  if (!Number.isInteger(length)) return null;
  const samples = new Float64Array(length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < length; i++) samples[i] = view.getFloat32(i * 4, true);
  return samples;
}
