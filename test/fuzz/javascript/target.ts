/** What is fuzzed: a function that throws where it finds something wrong. */
export interface Target {
  readonly run: (input: Uint8Array) => void;
  /** To begin with. */
  readonly seeds: readonly Uint8Array[];
  /** What means something to it. */
  readonly dictionary: readonly string[];
}

export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}

/** As many doubles as there are eight bytes, those that are finite. */
export function doublesOf(input: Uint8Array): number[] {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  return Array.from({ length: Math.floor(input.length / 8) }, (_, i) =>
    view.getFloat64(8 * i, true),
  ).filter(Number.isFinite);
}

export function bytesOfDoubles(values: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(values).buffer);
}
