import { bankBytes } from '../recordings/resample-filter';
import type { Opening } from './messages';
import { cutOf } from './opening';
import { SignalQualityAnalyzer } from './signal-quality';
import type { StreamModel } from './signal-stream';
import { resamples, SlidingWindows } from './sliding-windows';

/** Objects of a stream, without its samples. */
const OWN_BYTES = 4096;
/** Of a character in a string, at most. */
const CHARACTER_BYTES = 2;

/** Bytes that a stream takes. It is known before anything of the stream is built. */
export interface StreamMemory {
  readonly own: number;
  /** Bytes of tables that streams of the same rate share, by their keys. */
  readonly shared: readonly (readonly [key: string, bytes: number])[];
}

export function memoryOf({ settings, model }: StreamModel, opening: Opening): StreamMemory {
  const { quality } = settings;
  const cut = cutOf(opening, settings);
  const { samplingRate, modelRate } = cut;
  const rawLength = SlidingWindows.rawLengthOf(cut);
  const patient = CHARACTER_BYTES * (opening.patient_id?.length ?? 0);
  const { smoothing } = opening;
  const span = smoothing === null ? 0 : 'median' in smoothing ? smoothing.median : 1;
  const smoothed = span * model.metadata.labels.length * Float64Array.BYTES_PER_ELEMENT;
  const tables = `${rawLength} ${samplingRate} ${quality.mainsHz}`;
  return {
    own: OWN_BYTES + SlidingWindows.bytesOf(cut) + patient + smoothed,
    shared: [
      [tables, SignalQualityAnalyzer.bytesOf(rawLength, quality)],
      [
        `${samplingRate} ${modelRate}`,
        resamples(cut) ? bankBytes(samplingRate, modelRate ?? 0) : 0,
      ],
    ],
  };
}
