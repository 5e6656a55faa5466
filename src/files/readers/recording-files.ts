import path from 'node:path';
import { companionNames, readRecording } from '../../recordings/read-recording';
import { type Recording, RecordingError } from '../../recordings/recording';
import { type InputFile, requireUnmodified, statIfFile } from '../input-files';
import { readBlocks } from './input-bytes';

/** Maximum size of a recording, which is read into memory. The page has the same limit. */
const MAX_BYTES = 200 * 1024 ** 2;
/** Extensions of header files whose recordings consist of several files. */
const HEADER_EXTENSIONS = ['.vhdr', '.ahdr'];

/** Reads a recording with its companions from the same folder. @throws RecordingError, RunError */
export async function readRecordingFile(input: InputFile): Promise<Recording> {
  const name = path.basename(input.name);
  const bytes = await readBytes(input, MAX_BYTES);
  const companions = new Map<string, Uint8Array>();
  let left = MAX_BYTES - bytes.length;
  for (const companion of findCompanions(input, companionNames(bytes, name))) {
    const read = await readBytes(companion, left);
    requireUnmodified(companion);
    companions.set(path.basename(companion.name), read);
    left -= read.length;
  }
  return readRecording(bytes, name, companions);
}

/** Other files of the inputs, such as the data files of BrainVision headers. Files of malformed headers are missing. */
export async function companionFiles(inputs: readonly InputFile[]): Promise<readonly InputFile[]> {
  const all: InputFile[] = [];
  for (const input of inputs) {
    if (!HEADER_EXTENSIONS.includes(path.extname(input.name).toLowerCase())) continue;
    try {
      const bytes = await readBytes(input, MAX_BYTES);
      all.push(...findCompanions(input, companionNames(bytes, path.basename(input.name))));
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
    }
  }
  return all;
}

/** Files that exist in the folder of an input. */
function findCompanions(input: InputFile, names: readonly string[]): readonly InputFile[] {
  if (names.length > 0 && input.path === null) {
    throw new RecordingError(
      `${input.name}: BrainVision consists of several files. Pass the path of the .vhdr file.`,
    );
  }
  const folder = path.dirname(input.path ?? '');
  return names.flatMap((name) => statIfFile(path.join(folder, name)) ?? []);
}

/** @param limit maximum number of decompressed bytes */
async function readBytes(input: InputFile, limit: number): Promise<Uint8Array> {
  const blocks: Buffer[] = [];
  let size = 0;
  for await (const { bytes } of readBlocks(input)) {
    blocks.push(bytes);
    size += bytes.length;
    if (size <= limit) continue;
    throw new RecordingError(
      `${path.basename(input.name)}: the recording is larger than 200 MB. Split the recording.`,
    );
  }
  return Buffer.concat(blocks);
}
