import type { AnnotationList } from '../limits';
import type { Annotation } from '../recording';
import { decodeText } from '../text';
import type { EdfHeader, EdfSignal, Fail } from './header';

const LABEL = /^(?:EDF|BDF) Annotations$/;
/** Separates the channel from the text of an annotation: "spike@@T3". */
const CHANNEL_SEPARATOR = '@@';
const DURATION_SEPARATOR = '\x15';
const ONSET = /^[-+]\d+(?:\.\d*)?$/;
const DURATION = /^\d+(?:\.\d*)?$/;

/** Maximum number of lists of a file: a long recording has one list per second and annotation. */
const MAX_LISTS = 2_000_000;

export interface RecordTimes {
  /** Start of each record in seconds since the first record; NaN if a record does not specify it. */
  readonly starts: Float64Array;
  /** Start of the first record in seconds since the start in the header of the file. */
  readonly originSeconds: number;
  /** Number of annotations that do not have the specified form. */
  readonly damaged: number;
}

export function isAnnotationSignal({ label }: Pick<EdfSignal, 'label'>): boolean {
  return LABEL.test(label);
}

/**
 * Reads the time-stamped annotation lists (TAL) of EDF+ and BDF+. The first list of a record specifies its start.
 *
 * @param records number of complete records
 * @param found list that the annotations are added to
 * @returns null if the file has no annotation signal
 * @throws the error of `fail`
 */
export function readAnnotations(
  bytes: Uint8Array,
  header: EdfHeader,
  records: number,
  found: AnnotationList,
  fail: Fail,
): RecordTimes | null {
  const signals = header.signals.filter(isAnnotationSignal);
  if (signals.length === 0) return null;
  const labels = new Set(header.signals.map(({ label }) => label));
  const starts = new Float64Array(records).fill(Number.NaN);
  let originSeconds: number | null = null;
  let damaged = 0;
  let lists = 0;
  for (let record = 0; record < records; record++) {
    for (const [index, signal] of signals.entries()) {
      for (const [position, list] of listsOf(bytes, header, signal, record).entries()) {
        if (++lists > MAX_LISTS)
          throw fail(`has more than ${MAX_LISTS} lists of annotations. Split the recording.`);
        const parsed = parseList(list);
        originSeconds ??= parsed?.isRecordStart ? parsed.onset : 0;
        if (parsed === null) {
          damaged++;
          continue;
        }
        const onsetSeconds = parsed.onset - originSeconds;
        if (index === 0 && position === 0 && parsed.isRecordStart) starts[record] = onsetSeconds;
        const { durationSeconds } = parsed;
        for (const text of parsed.texts) {
          found.add({ onsetSeconds, durationSeconds, ...splitChannel(text, labels) });
        }
      }
    }
  }
  return { starts, originSeconds: originSeconds ?? 0, damaged };
}

/** Non-empty lists of a record, which NUL separates. */
function listsOf(
  bytes: Uint8Array,
  header: EdfHeader,
  signal: EdfSignal,
  record: number,
): readonly Uint8Array[] {
  const first = record * header.samplesPerRecord + signal.offset;
  const from = header.headerBytes + first * header.bytesPerSample;
  const all = bytes.subarray(from, from + signal.samplesPerRecord * header.bytesPerSample);
  const lists: Uint8Array[] = [];
  let start = 0;
  while (start < all.length) {
    const end = all.indexOf(0, start);
    const list = all.subarray(start, end < 0 ? all.length : end);
    if (list.length > 0) lists.push(list);
    start += list.length + 1;
  }
  return lists;
}

interface TimedTexts {
  readonly onset: number;
  readonly durationSeconds: number | null;
  /** Whether the first text is empty, as in the lists that specify the start of a record. */
  readonly isRecordStart: boolean;
  readonly texts: readonly string[];
}

/** Parses "+onset\x15duration\x14text\x14text\x14"; null for other text. */
function parseList(list: Uint8Array): TimedTexts | null {
  const [time = '', ...texts] = decodeText(list).split('\x14');
  const [onsetText = '', durationText] = time.split(DURATION_SEPARATOR);
  const onset = ONSET.test(onsetText) ? Number(onsetText) : Number.NaN;
  if (!Number.isFinite(onset) || texts.pop() !== '') return null;
  const duration = DURATION.test(durationText ?? '') ? Number(durationText) : Number.NaN;
  return {
    onset,
    durationSeconds: Number.isFinite(duration) ? duration : null,
    isRecordStart: texts[0] === '',
    texts: texts.filter((text) => text !== ''),
  };
}

function splitChannel(
  text: string,
  labels: ReadonlySet<string>,
): Pick<Annotation, 'text' | 'channel'> {
  const at = text.lastIndexOf(CHANNEL_SEPARATOR);
  const channel = text.slice(at + CHANNEL_SEPARATOR.length);
  if (at < 0 || !labels.has(channel)) return { text, channel: null };
  return { text: text.slice(0, at), channel };
}
