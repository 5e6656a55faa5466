import { EDF } from 'edfjs';
import { readRecording } from '../../recordings/read-recording';
import { type Recording, RecordingError } from '../../recordings/recording';

/** Maximum file size. The samples as float64 need several times as much memory. */
const MAX_FILE_BYTES = 200 * 1024 ** 2;

/** @throws RecordingError */
export async function openFile(file: File): Promise<Recording> {
  if (file.size > MAX_FILE_BYTES) {
    throw new RecordingError(`${file.name}: is larger than 200 MB. Cut it into parts.`);
  }
  let buffer: ArrayBuffer;
  try {
    buffer = await file.arrayBuffer();
  } catch {
    throw new RecordingError(`${file.name}: cannot be read from the disk.`);
  }
  return readRecording(buffer, file.name, EDF);
}
