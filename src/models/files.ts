import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { ExpectedError } from '../native/engine-error';

/** A file of a model that is not as it has to be: `<file>: <key>: <what is wrong, what was expected>`. */
export class ModelFileError extends ExpectedError {
  override readonly name = 'ModelFileError';
}

/**
 * Looks at a file of a model before anything opens it: to open a pipe would wait for its other end,
 * and a link may lead to any file of the machine.
 *
 * A link may stay within the folder, as those of a Kubernetes volume do, or lead to the `blobs` of
 * the Hugging Face cache that the folder is a snapshot of.
 *
 * @returns its size in bytes; null: there is none of this name
 * @throws ModelFileError where it is not to be read
 */
export function fileSize(directory: string, name: string): number | null {
  const place = path.join(directory, name);
  if (!lstatSync(place, { throwIfNoEntry: false })) return null;
  const real = withReadErrors(name, () => realpathSync(place));
  const folder = realpathSync(directory);
  if (![folder, blobsOf(folder)].some((home) => home !== null && isWithin(home, real))) {
    throw new ModelFileError(
      `${name}: is a link that leads out of the model's folder: copy the file into the folder, or ` +
        'name the folder that holds it',
    );
  }
  const stats = statSync(real);
  if (!stats.isFile()) throw new ModelFileError(`${name}: is not a regular file`);
  return stats.size;
}

/** Of a file, without its content: another one, where it has been written or replaced. */
export function fileIdentity(file: string): string {
  const { size, mtimeNs, ino, dev } = statSync(file, { bigint: true });
  return [size, mtimeNs, ino, dev].join();
}

/**
 * Absolute paths of those of `names` that are there.
 *
 * @throws ModelFileError where one is not to be read
 */
export function existingFiles(directory: string, names: readonly string[]): readonly string[] {
  return names
    .filter((name) => fileSize(directory, name) !== null)
    .map((name) => path.join(directory, name));
}

/**
 * The content of a file of text.
 *
 * @param mostBytes of it
 * @returns null: there is no such file
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

/** Of absolute paths without links. */
export function isWithin(folder: string, place: string): boolean {
  return place.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

/** `<cache>/snapshots/<revision>/…` has its files in `<cache>/blobs`; null: it is no snapshot. */
function blobsOf(folder: string): string | null {
  const parts = folder.split(path.sep);
  const snapshots = parts.lastIndexOf('snapshots');
  const isSnapshot = snapshots > 0 && snapshots < parts.length - 1;
  return isSnapshot ? path.join(path.sep, ...parts.slice(0, snapshots), 'blobs') : null;
}
