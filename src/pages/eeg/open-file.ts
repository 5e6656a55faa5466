import { companionNames, readRecording } from '../../recordings/read-recording';
import { type Recording, RecordingError } from '../../recordings/recording';

/** Maximum size of a recording. The samples as float64 need several times as much memory. */
const MAX_BYTES = 200 * 1024 ** 2;
const GZIP = [0x1f, 0x8b];

/**
 * Reads a recording. BrainVision consists of a header file (.vhdr) with its data and marker file.
 *
 * @param files not empty
 * @throws RecordingError
 */
export async function openFiles(files: readonly File[]): Promise<Recording> {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const [first] = files;
  const header = files.find(({ name }) => /\.[va]hdr$/i.test(name));
  const file = files.length === 1 ? first : header;
  if (!file) {
    throw new RecordingError(
      `${files.length} files: open one recording. Several files are one recording only with a BrainVision header (.vhdr).`,
    );
  }
  if (size > MAX_BYTES) {
    throw new RecordingError(`${file.name}: is larger than 200 MB. Cut it into parts.`);
  }
  const bytes = await readBytes(file, MAX_BYTES);
  const companions = new Map<string, Uint8Array>();
  for (const name of companionNames(bytes, file.name)) {
    const companion = files.find((candidate) => candidate.name === name);
    if (companion) companions.set(name, await readBytes(companion, MAX_BYTES - bytes.length));
  }
  return readRecording(bytes, file.name, companions);
}

/** Reads a file and decompresses gzip. @param limit maximum number of bytes */
async function readBytes(file: File, limit: number): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new RecordingError(`${file.name}: cannot be read from the disk.`);
  }
  const isGzip = GZIP.every((byte, index) => bytes[index] === byte);
  return isGzip ? gunzip(file, limit) : bytes;
}

/** Stops as soon as the decompressed bytes exceed the limit. */
async function gunzip(file: File, limit: number): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  let size = 0;
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      blocks.push(next.value);
      size += next.value.length;
      if (size > limit) break;
    }
  } catch {
    throw new RecordingError(`${file.name}: is damaged gzip data. Compress it again.`);
  }
  if (size > limit) {
    await reader.cancel();
    throw new RecordingError(`${file.name}: is larger than 200 MB when decompressed.`);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const block of blocks) {
    bytes.set(block, at);
    at += block.length;
  }
  return bytes;
}
