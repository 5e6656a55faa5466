import type { EDF } from 'edfjs';
import { parseCsv } from './csv-recording';
import { isEdf, readEdf } from './edf-recording';
import { type Recording, RecordingError } from './recording';

/** The cells of a table take much more room than what is read from them. */
const LARGEST_TEXT_BYTES = 50 * 1024 ** 2;

/**
 * @param Edf see `readEdf`
 * @throws RecordingError
 */
export function readRecording(buffer: ArrayBuffer, name: string, Edf: typeof EDF): Recording {
  const bytes = new Uint8Array(buffer);
  if (isEdf(bytes)) return readEdf(buffer, name, Edf);
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  if (!isUtf16 && bytes.subarray(0, 4096).includes(0)) {
    throw new RecordingError(`${name}: is neither EDF nor text. Export it as EDF or CSV.`);
  }
  if (bytes.length > LARGEST_TEXT_BYTES) {
    throw new RecordingError(`${name}: is larger than 50 MB. Cut it into parts, or use EDF.`);
  }
  return parseCsv(new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(buffer), name);
}
