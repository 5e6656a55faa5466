import { lstatSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

/** A file of a model that is not to be read. The message says why, without the file's name. */
export class ModelFileError extends Error {
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
 * @throws ModelFileError
 */
export function lookAt(directory: string, name: string): number | null {
  const place = path.join(directory, name);
  if (!lstatSync(place, { throwIfNoEntry: false })) return null;
  let real: string;
  try {
    real = realpathSync(place);
  } catch (error) {
    throw new ModelFileError(`cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  const folder = realpathSync(directory);
  if (![folder, blobsOf(folder)].some((home) => home !== null && isWithin(home, real))) {
    throw new ModelFileError(
      "is a link that leads out of the model's folder: copy the file into the folder, or name the " +
        'folder that holds it',
    );
  }
  const stats = statSync(real);
  if (!stats.isFile()) throw new ModelFileError('is not a regular file');
  return stats.size;
}

function isWithin(folder: string, place: string): boolean {
  return place.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

/** `<cache>/snapshots/<revision>/…` has its files in `<cache>/blobs`; null: it is no snapshot. */
function blobsOf(folder: string): string | null {
  const parts = folder.split(path.sep);
  const snapshots = parts.lastIndexOf('snapshots');
  const isSnapshot = snapshots > 0 && snapshots < parts.length - 1;
  return isSnapshot ? path.join(path.sep, ...parts.slice(0, snapshots), 'blobs') : null;
}
