/** Stamps of model folders, by which changes are detected. Runs on the reader thread. */
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { listModels, type RepositoryPath } from './read-folder';

/** Maximum number of files of a model folder in its stamp. */
const MAX_STAMPED_FILES = 10_000;

/** Hash of the names, sizes and times of all files of each model folder, by model name. @throws ModelFileError */
export function folderStamps(repository: RepositoryPath): Readonly<Record<string, string>> {
  const { names } = listModels(repository);
  const stamp = (name: string): string => {
    const folder = path.join(repository.directory, name);
    // A single model folder that is missing can be mounted later: report the error.
    return repository.only === null ? stampIfReadable(folder) : stampFolder(folder);
  };
  return Object.fromEntries(names.map((name) => [name, stamp(name)]));
}

/** Stamp of a folder; an unreadable folder does not affect other folders, its load reports the error. */
function stampIfReadable(folder: string): string {
  try {
    return stampFolder(folder);
  } catch (error) {
    return `unreadable: ${(error as NodeJS.ErrnoException).code}`;
  }
}

function stampFolder(folder: string): string {
  const digest = createHash('sha256');
  for (const name of readdirSync(folder, { recursive: true }).slice(0, MAX_STAMPED_FILES).sort()) {
    const stats = statSync(path.join(folder, String(name)), {
      bigint: true,
      throwIfNoEntry: false,
    });
    digest.update(`${name} ${stats?.size} ${stats?.mtimeNs} ${stats?.ino}\n`);
  }
  return digest.digest('hex');
}
