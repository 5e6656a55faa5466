import { AnnotationList, requireSegmentCount } from '../limits';
import { skippedNotes } from '../notes';
import {
  type Channel,
  type Recording,
  RecordingError,
  type Segment,
  type UnreadableChannel,
} from '../recording';
import { readData } from './data';
import { type BrainVisionHeader, readBrainVisionHeader } from './header';
import { type Markers, readMarkers } from './markers';

/** Files next to the header file, by name. */
export type Companions = ReadonlyMap<string, Uint8Array>;

/** Names of the data file and of the marker file. @throws RecordingError */
export function brainVisionFiles(bytes: Uint8Array, name: string): readonly string[] {
  const { dataFile, markerFile } = readBrainVisionHeader(bytes, name);
  return markerFile === null ? [dataFile] : [dataFile, markerFile];
}

/**
 * Reads BrainVision: a header file (.vhdr), a data file (.eeg, .dat) and a marker file (.vmrk).
 *
 * @param name name of the header file
 * @throws RecordingError
 */
export function readBrainVision(
  bytes: Uint8Array,
  name: string,
  companions: Companions,
): Recording {
  const header = readBrainVisionHeader(bytes, name);
  const data = companions.get(header.dataFile);
  if (data === undefined) {
    throw new RecordingError(
      `${name}: the data file “${header.dataFile}” is missing. Keep the header file, the data file and the marker file together, and correct DataFile if the file was renamed.`,
    );
  }
  const values = readData(data, header.dataFile, header);
  const markers = readMarkerFile(header, companions);
  const length = values.channels[0]?.length ?? 0;
  const paused = markers.gaps.filter((start) => start < length);
  requireSegmentCount(paused.length + length / (header.segmentPoints ?? length), name);
  const segments = toSegments([...paused, ...multiples(header.segmentPoints, length)], header);
  const { channels, unreadable } = toChannels(header, values.channels, segments);
  const notes = [
    ...values.notes,
    ...markers.notes,
    ...skippedNotes(unreadable),
    ...markers.annotations.notes(),
  ];
  if (channels.length === 0) {
    throw new RecordingError([`${name}: contains no readable channel.`, ...notes].join(' '));
  }
  const { startTime } = markers;
  const annotations = markers.annotations.sorted();
  return { name, channels, unreadable, annotations, startTime, notes };
}

function readMarkerFile(header: BrainVisionHeader, companions: Companions): Markers {
  const { markerFile } = header;
  const bytes = markerFile === null ? undefined : companions.get(markerFile);
  if (markerFile !== null && bytes !== undefined) return readMarkers(bytes, markerFile, header);
  const notes =
    markerFile === null
      ? []
      : [`The marker file “${markerFile}” is missing: annotations and gaps are unknown.`];
  return { annotations: new AnnotationList(), gaps: [], startTime: null, notes };
}

function toChannels(
  { channels: described, samplingRateHz }: BrainVisionHeader,
  values: readonly Float64Array[],
  segments: readonly Segment[],
): Pick<Recording, 'channels' | 'unreadable'> {
  const channels: Channel[] = [];
  const unreadable: UnreadableChannel[] = [];
  for (const [index, { label, isNamed, unit, resolution }] of described.entries()) {
    const samples = values[index] as Float64Array;
    for (let at = 0; at < samples.length; at++) {
      samples[at] = (samples[at] as number) * resolution;
    }
    const bad = samples.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0) {
      unreadable.push({ label, isNamed, reason: `has no finite number as sample ${bad + 1}` });
    } else channels.push({ label, isNamed, unit, samplingRateHz, samples, segments });
  }
  return { channels, unreadable };
}

function multiples(step: number | null, length: number): readonly number[] {
  if (step === null) return [];
  return Array.from({ length: Math.ceil(length / step) - 1 }, (_, index) => (index + 1) * step);
}

/**
 * Segments at the samples after gaps. As in MNE-Python, the positions of markers do not count the time of a gap, which
 * many files do not specify.
 */
function toSegments(
  starts: readonly number[],
  { samplingRateHz }: BrainVisionHeader,
): readonly Segment[] {
  return [...new Set([0, ...starts])]
    .sort((a, b) => a - b)
    .map((firstSample) => ({
      firstSample,
      startSeconds: firstSample / samplingRateHz,
      measuredRateHz: null,
    }));
}
