import { parseCsv } from './csv-recording';
import { isEdf, readEdf } from './edf-recording';
import { type Recording, RecordingError } from './recording';

/** Its samples as float64 are some times as large, and a browser's tab holds only so much. */
const LARGEST_BYTES = 200 * 1024 ** 2;
/** The cells of a table take much more room than what is read from them. */
const LARGEST_TEXT_BYTES = 50 * 1024 ** 2;

/** @throws RecordingError */
export async function openFile(file: File): Promise<Recording> {
  if (file.size > LARGEST_BYTES) {
    throw new RecordingError(`${file.name}: is larger than 200 MB. Cut it into parts.`);
  }
  let buffer: ArrayBuffer;
  try {
    buffer = await file.arrayBuffer();
  } catch {
    throw new RecordingError(`${file.name}: cannot be read from the disk.`);
  }
  return readRecording(buffer, file.name);
}

/** @throws RecordingError */
export function readRecording(buffer: ArrayBuffer, name: string): Recording {
  const bytes = new Uint8Array(buffer);
  if (isEdf(bytes)) return readEdf(buffer, name);
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  if (!isUtf16 && bytes.subarray(0, 4096).includes(0)) {
    throw new RecordingError(`${name}: is neither EDF nor text. Export it as EDF or CSV.`);
  }
  if (bytes.length > LARGEST_TEXT_BYTES) {
    throw new RecordingError(`${name}: is larger than 50 MB. Cut it into parts, or use EDF.`);
  }
  return parseCsv(new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(buffer), name);
}
