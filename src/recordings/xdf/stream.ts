import { MAX_CHANNELS } from '../limits';
import { type ByteReader, DamageError, NUMBER_BYTES, type NumberFormat } from './bytes';
import { childOf, parseXml, textOf, type XmlElement } from './xml';

/** Maximum size of the XML of a header in bytes. */
const MAX_XML_BYTES = 4 * 1024 ** 2;
const DECODER = new TextDecoder();

/** Stream as its header describes it. */
export interface StreamHeader {
  readonly name: string;
  readonly format: NumberFormat | 'string';
  readonly channelCount: number;
  /** Nominal sampling rate in Hz; 0 for events without a rate. */
  readonly samplingRateHz: number;
  /** Null for channels that the header does not describe. */
  readonly labels: readonly (string | null)[];
  readonly units: readonly (string | null)[];
  /** Whether small gaps between time stamps are missing samples. */
  readonly canDropSamples: boolean;
}

/** Receives the samples of a chunk. */
export interface SampleVisitor {
  /** @param stamp in seconds; null: one sample after the previous sample */
  sample(stamp: number | null): void;
  /** Value of the next channel. */
  value(value: number | string): void;
}

/** @throws DamageError if the XML lacks a property */
export function parseStreamHeader(content: ByteReader): StreamHeader {
  const info = parseInfo(content);
  const channelCount = Number(textOf(info, 'channel_count'));
  const isCount = Number.isInteger(channelCount) && channelCount >= 1;
  if (!isCount || channelCount > MAX_CHANNELS) throw new DamageError('channel_count');
  const samplingRateHz = Number(textOf(info, 'nominal_srate') || Number.NaN);
  if (!(samplingRateHz >= 0 && samplingRateHz <= 1e9)) throw new DamageError('nominal_srate');
  const format = textOf(info, 'channel_format');
  if (format !== 'string' && !Object.hasOwn(NUMBER_BYTES, format))
    throw new DamageError('channel_format');
  const described = childOf(childOf(info, 'desc'), 'channels')?.children ?? [];
  const channels = described.filter(({ name }) => name === 'channel');
  const texts = (name: string) =>
    Array.from({ length: channelCount }, (_, index) => textOf(channels[index], name) || null);
  return {
    name: textOf(info, 'name') || 'stream',
    format: format as StreamHeader['format'],
    channelCount,
    // Below one sample in about 30 years, the rate is as good as 0.
    samplingRateHz: samplingRateHz < 1e-9 ? 0 : samplingRateHz,
    labels: texts('label'),
    units: texts('unit'),
    canDropSamples:
      textOf(childOf(childOf(info, 'desc'), 'synchronization'), 'can_drop_samples') === 'true',
  };
}

/** Number of samples in a stream footer; null if unknown. */
export function parseSampleCount(content: ByteReader): number | null {
  // Some recorders write "360060.0".
  const [, count] = /^(\d+)(?:\.0*)?$/.exec(textOf(parseInfo(content), 'sample_count')) ?? [];
  return count === undefined ? null : Number(count);
}

/** Start of the recording in the file header, such as 2024-01-01T10:00:00+0100; null if unknown. */
export function parseStartTime(content: ByteReader): string | null {
  const text = textOf(parseInfo(content), 'datetime').replace(/([-+]\d\d)(\d\d)$/, '$1:$2');
  return Number.isNaN(Date.parse(text)) ? null : text;
}

function parseInfo(content: ByteReader): XmlElement {
  if (content.left > MAX_XML_BYTES) throw new DamageError('a header that is too large');
  const info = parseXml(content.bytes(content.left));
  if (info?.name !== 'info') throw new DamageError('a header that is not valid XML');
  return info;
}

/**
 * Reads a chunk of samples.
 *
 * @param visitor null: only validates
 * @returns number of samples
 * @throws DamageError if the chunk is damaged
 */
export function readSamples(
  content: ByteReader,
  { format, channelCount }: StreamHeader,
  visitor: SampleVisitor | null,
): number {
  const count = content.length();
  for (let sample = 0; sample < count; sample++) {
    const stamp = content.uint8() === 0 ? null : content.float64();
    visitor?.sample(stamp);
    if (format === 'string') readTexts(content, channelCount, visitor);
    else if (visitor === null) content.skip(channelCount * NUMBER_BYTES[format]);
    else readNumbers(content, format, channelCount, visitor);
  }
  return count;
}

function readTexts(content: ByteReader, count: number, visitor: SampleVisitor | null): void {
  for (let channel = 0; channel < count; channel++) {
    const bytes = content.bytes(content.length());
    visitor?.value(DECODER.decode(bytes));
  }
}

function readNumbers(
  content: ByteReader,
  format: NumberFormat,
  count: number,
  visitor: SampleVisitor,
): void {
  for (let channel = 0; channel < count; channel++) visitor.value(content.number(format));
}
