import { type Annotation, RecordingError } from './recording';

/** Maximum number of channels of a file. */
export const MAX_CHANNELS = 4096;
/** Maximum number of samples of all channels: 1 GiB. Checked before memory is allocated. */
export const MAX_SAMPLES = 2 ** 27;
/** Maximum number of annotations of a file. */
const MAX_ANNOTATIONS = 500_000;
/** Maximum length of the text of an annotation in UTF-16 units. */
const MAX_TEXT = 10_000;

/** Maximum number of continuous parts of a channel. */
const MAX_SEGMENTS = 100_000;

/** @param name file name @throws RecordingError */
export function requireSegmentCount(count: number, name: string): void {
  if (count <= MAX_SEGMENTS) return;
  throw new RecordingError(`${name}: has more than ${MAX_SEGMENTS} gaps. Split the recording.`);
}

/** Collects the annotations of a file, up to a maximum number. */
export class AnnotationList {
  readonly #all: Annotation[] = [];
  #ignored = 0;

  add(annotation: Annotation): void {
    if (this.#all.length === MAX_ANNOTATIONS) this.#ignored++;
    else this.#all.push({ ...annotation, text: annotation.text.slice(0, MAX_TEXT) });
  }

  /** Annotations sorted by onset; annotations with the same onset keep their order. */
  sorted(): readonly Annotation[] {
    return this.#all.sort((a, b) => a.onsetSeconds - b.onsetSeconds);
  }

  /** Notes for the user. */
  notes(): readonly string[] {
    if (this.#ignored === 0) return [];
    return [`The file has more than ${MAX_ANNOTATIONS} annotations: ${this.#ignored} are skipped.`];
  }
}
