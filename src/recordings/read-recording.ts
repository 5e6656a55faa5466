import type { EDF } from 'edfjs';
import { parseCsv } from './csv-recording';
import { isEdf, readEdf } from './edf-recording';
import { type Recording, RecordingError } from './recording';

/** Maximum size of a text file: the parsed cells take much more memory. */
const MAX_TEXT_BYTES = 50 * 1024 ** 2;

/**
 * Reads EDF or CSV.
 *
 * @param Edf see `readEdf`
 * @throws RecordingError
 */
export function readRecording(buffer: ArrayBuffer, name: string, Edf: typeof EDF): Recording {
  const bytes = new Uint8Array(buffer);
  if (isEdf(bytes)) return readEdf(buffer, name, Edf);
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  if (!isUtf16 && bytes.subarray(0, 4096).includes(0)) {
    throw new RecordingError(`${name}: expected EDF or text. Export it as EDF or CSV.`);
  }
  if (bytes.length > MAX_TEXT_BYTES) {
    throw new RecordingError(`${name}: is larger than 50 MB. Split the file or use EDF.`);
  }
  return parseCsv(new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(buffer), name);
}
