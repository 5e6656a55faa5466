import {
  brainVisionFiles,
  type Companions,
  readBrainVision,
} from './brainvision/brainvision-recording';
import { isBrainVision } from './brainvision/header';
import { isMarkerFile } from './brainvision/markers';
import { parseCsv } from './csv-recording';
import { readEdf } from './edf/edf-recording';
import { isEdf } from './edf/header';
import { type Recording, RecordingError } from './recording';
import { isXdf } from './xdf/chunks';
import { readXdf } from './xdf/xdf-recording';

/** Maximum size of a text file: the parsed cells take much more memory. */
const MAX_TEXT_BYTES = 50 * 1024 ** 2;

/**
 * Names of the other files of a recording, in the same folder. Only BrainVision consists of several files.
 *
 * @throws RecordingError
 */
export function companionNames(bytes: Uint8Array, name: string): readonly string[] {
  return isBrainVision(bytes) ? brainVisionFiles(bytes, name) : [];
}

/**
 * Reads EDF, BDF, BrainVision, XDF or CSV. The content decides the format, not the extension.
 *
 * @param bytes decompressed
 * @param companions files of `companionNames` that exist
 * @throws RecordingError
 */
export function readRecording(
  bytes: Uint8Array,
  name: string,
  companions: Companions = new Map(),
): Recording {
  if (isEdf(bytes)) return readEdf(bytes, name);
  if (isXdf(bytes)) return readXdf(bytes, name);
  if (isBrainVision(bytes)) return readBrainVision(bytes, name, companions);
  if (isMarkerFile(bytes)) {
    throw new RecordingError(
      `${name}: is a marker file of BrainVision. Open the header file (.vhdr) with it.`,
    );
  }
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  if (!isUtf16 && bytes.subarray(0, 4096).includes(0)) {
    throw new RecordingError(
      `${name}: expected EDF, BDF, BrainVision (.vhdr), XDF or text. Export it in one of these formats.`,
    );
  }
  if (bytes.length > MAX_TEXT_BYTES) {
    throw new RecordingError(`${name}: is larger than 50 MB. Split the file or use EDF.`);
  }
  return parseCsv(new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes), name);
}
