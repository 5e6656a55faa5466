import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { ExpectedError } from '../native/engine-error';

/** Invalid file of a model. Message format: `<file>: <key>: <problem, expected value>`. */
export class ModelFileError extends ExpectedError {
  override readonly name = 'ModelFileError';
}

/**
 * Validates a model file before it is opened: opening a pipe would block, and a symbolic link could
 * lead to any file of the machine.
 *
 * A link may lead to a file in the folder (Kubernetes volumes) or in the `blobs` folder of the
 * Hugging Face cache that contains this snapshot.
 *
 * @returns size in bytes; null if the file does not exist
 * @throws ModelFileError if the file must not be read
 */
export function fileSize(directory: string, name: string): number | null {
  const file = path.join(directory, name);
  if (!lstatSync(file, { throwIfNoEntry: false })) return null;
  const real = withReadErrors(name, () => realpathSync(file));
  const folder = realpathSync(directory);
  if (![folder, blobsOf(folder)].some((home) => home !== null && isWithin(home, real))) {
    throw new ModelFileError(
      `${name}: is a link to a file outside the model folder: copy the file into the folder, or ` +
        'use the folder that contains it',
    );
  }
  const stats = statSync(real);
  if (!stats.isFile()) throw new ModelFileError(`${name}: is not a regular file`);
  return stats.size;
}

/**
 * Identifies the state of a file by its metadata. The value changes if the file is written or
 * replaced.
 */
export function fileIdentity(file: string): string {
  const { size, mtimeNs, ino, dev } = statSync(file, { bigint: true });
  return [size, mtimeNs, ino, dev].join();
}

/**
 * Returns the absolute paths of the existing files among `names`.
 *
 * @throws ModelFileError if a file must not be read
 */
export function existingFiles(directory: string, names: readonly string[]): readonly string[] {
  return names
    .filter((name) => fileSize(directory, name) !== null)
    .map((name) => path.join(directory, name));
}

/**
 * Reads a text file.
 *
 * @param mostBytes maximum size in bytes
 * @returns null if the file does not exist
 * @throws ModelFileError
 */
export function readText(directory: string, name: string, mostBytes: number): string | null {
  const size = fileSize(directory, name);
  if (size === null) return null;
  if (size > mostBytes) {
    throw new ModelFileError(`${name}: has ${size} bytes, expected at most ${mostBytes}`);
  }
  return withReadErrors(name, () => readFileSync(path.join(directory, name), 'utf8'));
}

function withReadErrors<Result>(name: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new ModelFileError(`${name}: cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** Whether a path lies within a folder. Both are absolute and contain no symbolic links. */
export function isWithin(folder: string, file: string): boolean {
  return file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

/**
 * Returns the `blobs` folder of a Hugging Face cache for `<cache>/snapshots/<revision>/…`; null for
 * other folders.
 */
function blobsOf(folder: string): string | null {
  const parts = folder.split(path.sep);
  const snapshots = parts.lastIndexOf('snapshots');
  const isSnapshot = snapshots > 0 && snapshots < parts.length - 1;
  return isSnapshot ? path.join(path.sep, ...parts.slice(0, snapshots), 'blobs') : null;
}
