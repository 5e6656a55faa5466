/** One signal of an EDF file. */
export interface EdfSignal {
  readonly label: string;
  readonly unit: string;
  /** Samples in each record. */
  readonly perRecord: number;
  /** All samples as they are stored, record after record. */
  readonly digital: readonly number[];
  /** Physical minimum and maximum; the digital ones are −32768 and 32767. */
  readonly physical?: readonly [number, number];
}

export interface EdfOptions {
  readonly channels: readonly EdfSignal[];
  readonly recordSeconds: number;
  /** "EDF+C" and so on. */
  readonly reserved?: string;
  /** What the header says; by default what is there. */
  readonly records?: number;
}

/** An EDF file (https://www.edfplus.info/specs/edf.html). */
export function makeEdf({ channels, recordSeconds, reserved = '', records }: EdfOptions): Buffer {
  const [first] = channels;
  const count = first ? Math.floor(first.digital.length / first.perRecord) : 0;
  const text = (value: string | number, width: number) =>
    String(value).padEnd(width).slice(0, width);
  const each = (width: number, value: (signal: EdfSignal) => string | number) =>
    channels.map((signal) => text(value(signal), width)).join('');
  const header = [
    text(0, 8),
    text('X X X X', 80),
    text('Startdate 01-JAN-2024 X X X', 80),
    '01.01.2410.00.00',
    text(256 * (channels.length + 1), 8),
    text(reserved, 44),
    text(records ?? count, 8),
    text(recordSeconds, 8),
    text(channels.length, 4),
    each(16, ({ label }) => label),
    each(80, () => ''),
    each(8, ({ unit }) => unit),
    each(8, ({ physical }) => physical?.[0] ?? -3276.8),
    each(8, ({ physical }) => physical?.[1] ?? 3276.7),
    each(8, () => -32768),
    each(8, () => 32767),
    each(80, () => ''),
    each(8, ({ perRecord }) => perRecord),
    each(32, () => ''),
  ].join('');
  const samples: number[] = [];
  for (let record = 0; record < count; record++) {
    for (const { digital, perRecord } of channels) {
      samples.push(...digital.slice(record * perRecord, (record + 1) * perRecord));
    }
  }
  return Buffer.concat([
    Buffer.from(header, 'latin1'),
    Buffer.from(Int16Array.from(samples).buffer),
  ]);
}
