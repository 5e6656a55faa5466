import type { EdfHeader, EdfSignal } from './header';

const RANGE = {
  physicalMinimum: 'physical minimum',
  physicalMaximum: 'physical maximum',
  digitalMinimum: 'digital minimum',
  digitalMaximum: 'digital maximum',
} as const;

/** Reads the digital values of a signal: signed integers of 16 or 24 bits, little-endian. */
export function readDigital(
  bytes: Uint8Array,
  { headerBytes, bytesPerSample, samplesPerRecord }: EdfHeader,
  signal: EdfSignal,
  records: number,
): Float64Array {
  const length = signal.samplesPerRecord;
  const values = new Float64Array(length * records);
  for (let record = 0; record < records; record++) {
    const first = record * samplesPerRecord + signal.offset;
    let at = headerBytes + first * bytesPerSample;
    const end = (record + 1) * length;
    for (let index = record * length; index < end; index++, at += bytesPerSample) {
      const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
      values[index] =
        bytesPerSample === 2
          ? (low << 16) >> 16
          : ((low | ((bytes[at + 2] as number) << 16)) << 8) >> 8;
    }
  }
  return values;
}

/** Converts digital to physical values in place. @returns whether all values are finite */
export function toPhysical(values: Float64Array, signal: EdfSignal): boolean {
  const { physicalMinimum, physicalMaximum, digitalMinimum, digitalMaximum } = signal;
  const scale = (physicalMaximum - physicalMinimum) / (digitalMaximum - digitalMinimum);
  const offset = physicalMinimum - digitalMinimum * scale;
  for (let index = 0; index < values.length; index++) {
    values[index] = (values[index] as number) * scale + offset;
  }
  return values.every(Number.isFinite);
}

/** Reason why the samples of a signal cannot be read; null if they can. */
export function problemOf(signal: EdfSignal): string | null {
  if (signal.samplesPerRecord === 0) return 'has no samples';
  for (const [field, words] of Object.entries(RANGE)) {
    const value = signal[field as keyof typeof RANGE];
    if (!Number.isFinite(value)) return `has an invalid ${words} in the header`;
  }
  const isEmpty =
    signal.physicalMinimum === signal.physicalMaximum ||
    signal.digitalMinimum === signal.digitalMaximum;
  return isEmpty ? 'has an empty range in the header' : null;
}
