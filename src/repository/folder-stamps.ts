/** Stamps of models, by which changes are detected. Runs on the reader thread. */
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { findAdapter } from '../models/peft/adapter';
import { MODEL_JSON, VERSION_FOLDER } from './model-json';
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
  const stamps = [folder, ...basesOf(folder)].map((each) =>
    stampFiles(each, readdirSync(each, { recursive: true }).map(String)),
  );
  return stamps.join();
}

/** Folders of the base models of LoRA adapters in a model folder or its version folders. */
function basesOf(folder: string): readonly string[] {
  const versions = readdirSync(folder).filter((name) => VERSION_FOLDER.test(name));
  const folders = [folder, ...versions.map((version) => path.join(folder, version))];
  const bases = folders.flatMap((each) => findBase(each) ?? []);
  return [...new Set(bases)].filter((base) => base !== folder);
}

/** Base of an adapter; null: no adapter, or one whose load reports an error. */
function findBase(folder: string): string | null {
  try {
    return findAdapter(folder)?.base ?? null;
  } catch {
    return null;
  }
}

function stampFiles(folder: string, names: readonly string[]): string {
  const digest = createHash('sha256');
  for (const name of names.slice(0, MAX_STAMPED_FILES).sort()) {
    const stats = statSync(path.join(folder, name), { bigint: true, throwIfNoEntry: false });
    digest.update(`${name} ${stats?.size} ${stats?.mtimeNs} ${stats?.ino}\n`);
  }
  return digest.digest('hex');
}
