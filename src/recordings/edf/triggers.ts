import type { AnnotationList } from '../limits';
import type { EdfHeader, EdfSignal } from './header';
import { readDigital } from './samples';

/** Label of the channel of trigger inputs that BioSemi amplifiers record. */
const LABEL = 'Status';
/** The 16 trigger inputs; the higher bits are the state of the amplifier. */
const TRIGGER_BITS = 0xffff;

/**
 * Adds an annotation for each change of the trigger inputs to another code than 0. The text is the code.
 *
 * @param secondsAt time of a sample in seconds since the start of the recording
 */
export function readTriggers(
  bytes: Uint8Array,
  header: EdfHeader,
  records: number,
  found: AnnotationList,
  secondsAt: (signal: EdfSignal, sample: number) => number,
): void {
  const signal = header.signals.find(({ label }) => label === LABEL);
  if (header.bytesPerSample !== 3 || !signal) return;
  let before: number | null = null;
  const values = readDigital(bytes, header, signal, records);
  for (let sample = 0; sample < values.length; sample++) {
    const code = (values[sample] as number) & TRIGGER_BITS;
    // The code of the first sample was set before the recording.
    if (before !== null && code !== before && code !== 0) {
      const onsetSeconds = secondsAt(signal, sample);
      found.add({ onsetSeconds, durationSeconds: null, text: String(code), channel: null });
    }
    before = code;
  }
}
