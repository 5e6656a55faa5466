/** Stamps of models, by which changes are detected. Runs on the reader thread. */
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { MODEL_JSON } from './model-json';
import type { ModelLocation, RepositoryPaths } from './repository-paths';

/** Maximum number of files of a model folder in its stamp. */
const MAX_STAMPED_FILES = 10_000;

/** Hash of the names, sizes and times of the files of each model, by model name. @throws ModelFileError */
export function folderStamps(repository: RepositoryPaths): Readonly<Record<string, string>> {
  const { names } = repository.list();
  return Object.fromEntries(names.map((name) => [name, stampOf(repository, name)]));
}

function stampOf(repository: RepositoryPaths, name: string): string {
  const single = repository.findSingle(name);
  // A single model that is missing can be mounted later: its error is reported.
  return single ? stampSingle(single) : stampIfReadable(repository, name);
}

function stampSingle({ folder, file }: ModelLocation): string {
  return file === null ? stampFolder(folder) : stampFiles(folder, filesNextTo(folder, file));
}

/** Stamp of a model folder. An unreadable folder does not affect other folders: its load reports the error. */
function stampIfReadable(repository: RepositoryPaths, name: string): string {
  try {
    const location = repository.find(name);
    return location ? stampFolder(location.folder) : 'missing';
  } catch (error) {
    return `unreadable: ${(error as NodeJS.ErrnoException).code}`;
  }
}

/** The model file, the files with its name and another extension, and model.json. */
function filesNextTo(folder: string, file: string): readonly string[] {
  const { name: stem } = path.parse(file);
  const belongs = (name: string) => name === MODEL_JSON || path.parse(name).name === stem;
  return readdirSync(folder).filter(belongs);
}

function stampFolder(folder: string): string {
  return stampFiles(folder, readdirSync(folder, { recursive: true }).map(String));
}

function stampFiles(folder: string, names: readonly string[]): string {
  const digest = createHash('sha256');
  for (const name of names.slice(0, MAX_STAMPED_FILES).sort()) {
    const stats = statSync(path.join(folder, name), { bigint: true, throwIfNoEntry: false });
    digest.update(`${name} ${stats?.size} ${stats?.mtimeNs} ${stats?.ino}\n`);
  }
  return digest.digest('hex');
}
