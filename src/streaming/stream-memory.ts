import { bankBytes } from '../recordings/resample-filter';
import { SignalQualityAnalyzer } from '../tasks/signal-classification/signal-quality';
import { windowBytes } from './create-windows';
import { isResampled, SlidingWindows, windowingOf } from './sliding-windows';
import type { StreamModel } from './stream-host';
import type { StreamOptions } from './stream-messages';

/** Size of a stream's objects without samples. */
const OBJECT_BYTES = 4096;
/** Maximum size of a character in a string. */
const CHARACTER_BYTES = 2;

/** Memory of a stream in bytes, computed before the stream is created. */
export interface StreamSize {
  readonly own: number;
  /** Tables that streams with the same sampling rates share, by key. */
  readonly shared: readonly (readonly [key: string, bytes: number])[];
}

export function sizeOf({ settings, model }: StreamModel, options: StreamOptions): StreamSize {
  const { quality } = settings;
  const windowing = windowingOf(options, settings);
  const { samplingRate, modelRate } = windowing;
  const rawLength = SlidingWindows.rawLengthOf(windowing);
  const patient = CHARACTER_BYTES * (options.patient_id?.length ?? 0);
  const { smoothing } = options;
  const span = smoothing === null ? 0 : 'median' in smoothing ? smoothing.median : 1;
  const smoothed = span * model.metadata.labels.length * Float64Array.BYTES_PER_ELEMENT;
  const filterBytes = isResampled(windowing) ? bankBytes(samplingRate, modelRate ?? 0) : 0;
  return {
    own: OBJECT_BYTES + windowBytes(options, settings) + patient + smoothed,
    shared: [
      [
        `${rawLength} ${samplingRate} ${quality.mainsHz}`,
        SignalQualityAnalyzer.bytesOf(rawLength, quality),
      ],
      [`${samplingRate} ${modelRate}`, filterBytes],
    ],
  };
}

/** Counts shared memory once per key, for as long as the key has users. */
export class RefCountedBytes {
  readonly #users = new Map<string, number>();

  /** @returns bytes that are in use now and were not before */
  add(key: string, bytes: number): number {
    const users = this.#users.get(key) ?? 0;
    this.#users.set(key, users + 1);
    return users === 0 ? bytes : 0;
  }

  /** @returns bytes that are no longer in use */
  remove(key: string, bytes: number): number {
    const users = (this.#users.get(key) ?? 0) - 1;
    if (users > 0) this.#users.set(key, users);
    else this.#users.delete(key);
    return users > 0 ? 0 : bytes;
  }
}

/** Memory of all streams, up to a limit in bytes. */
export class StreamMemory {
  readonly #limit: number;
  readonly #shared = new RefCountedBytes();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  fits(bytes: number): boolean {
    return this.#bytes + bytes <= this.#limit;
  }

  /** @param bytes negative if released */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * Reserves the memory of a new stream.
   *
   * @param makeRoom closes other streams; returns false if the bytes still do not fit
   */
  reserve({ own, shared }: StreamSize, makeRoom: (bytes: number) => boolean): boolean {
    // Shared tables are counted first, so that `makeRoom` does not release them.
    let bytes = own;
    for (const [key, size] of shared) bytes += this.#shared.add(key, size);
    const hasRoom = makeRoom(bytes);
    if (hasRoom) this.#bytes += bytes;
    else for (const [key, size] of shared) this.#shared.remove(key, size);
    return hasRoom;
  }

  release({ own, shared }: StreamSize): void {
    this.#bytes -= own;
    for (const [key, size] of shared) this.#bytes -= this.#shared.remove(key, size);
  }
}
