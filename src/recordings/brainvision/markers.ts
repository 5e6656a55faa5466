import { AnnotationList } from '../limits';
import { skipped } from '../notes';
import { RecordingError } from '../recording';
import type { BrainVisionHeader } from './header';
import { parseIni, splitValue } from './ini';

const FIRST_LINE = /^(?:\xef\xbb\xbf)?Brain ?Vision .{0,40}Marker File/i;
/** Maximum size of a marker file. */
const MAX_MARKER_BYTES = 32 * 1024 ** 2;
/** Marker at which the recording starts, or continues after a pause. */
const NEW_SEGMENT = 'New Segment';

export interface Markers {
  readonly annotations: AnnotationList;
  /** Samples at which the recording continues after a gap, in the order of the file. */
  readonly gaps: readonly number[];
  /** Start of the recording as ISO 8601; null if unknown. */
  readonly startTime: string | null;
  readonly notes: readonly string[];
}

/** Whether a file starts like a BrainVision marker file (.vmrk). */
export function isMarkerFile(start: Uint8Array): boolean {
  return FIRST_LINE.test(new TextDecoder('latin1').decode(start.subarray(0, 128)));
}

/**
 * Reads a marker file. The text of an annotation is "type/description", as in MNE-Python.
 *
 * @param name name of the marker file
 * @throws RecordingError
 */
export function readMarkers(
  bytes: Uint8Array,
  name: string,
  { samplingRateHz, channels }: BrainVisionHeader,
): Markers {
  if (bytes.length > MAX_MARKER_BYTES)
    throw new RecordingError(`${name}: is larger than 32 MB. Shorten the marker file.`);
  if (!isMarkerFile(bytes)) {
    throw new RecordingError(
      `${name}, line 1: expected "Brain Vision Data Exchange Marker File". Correct MarkerFile in the header file.`,
    );
  }
  const annotations = new AnnotationList();
  const gaps: number[] = [];
  let startTime: string | null = null;
  let damaged = 0;
  const entries = [...(parseIni(bytes).get('marker infos') ?? [])];
  for (const [index, [key, value]] of entries.entries()) {
    if (!/^mk\d+$/.test(key)) continue;
    const [type = '', description = '', position = '', size = '', channel = '', date = ''] =
      splitValue(value);
    const sample = Number(position) - 1;
    if (!/^\d+$/.test(position) || sample > Number.MAX_SAFE_INTEGER) {
      damaged++;
      continue;
    }
    if (type === NEW_SEGMENT) {
      startTime ??= readDate(date);
      if (sample > 0) gaps.push(sample);
      // The first marker specifies only the start time.
      if (index === 0) continue;
    }
    annotations.add({
      onsetSeconds: sample / samplingRateHz,
      durationSeconds: /^\d+$/.test(size) ? Number(size) / samplingRateHz : null,
      text: `${type}/${description}`,
      channel: channels[Number(channel) - 1]?.label ?? null,
    });
  }
  const notes = damaged === 0 ? [] : [`${name}: ${skipped(damaged, 'damaged marker')}.`];
  return { annotations, gaps, startTime, notes };
}

/** Converts YYYYMMDDhhmmssuuuuuu to ISO 8601; null for other text and for zeros. */
function readDate(text: string): string | null {
  const [, year, month, day, hours, minutes, seconds, fraction] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})\d{3}$/.exec(text) ?? [];
  const iso = `${year}-${month}-${day}T${hours}:${minutes}:${seconds}.${fraction}`;
  return Number.isNaN(Date.parse(`${iso}Z`)) ? null : iso;
}
