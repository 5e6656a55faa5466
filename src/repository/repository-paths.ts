/** Finds the model folders of a server. Runs on the reader thread (folder-reader-thread.ts). */
import { type Dirent, opendirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { ModelFileError } from '../models/files';
import { MODEL_NAME } from '../settings/parsers';
import { TASKS } from '../tasks/registry';
import { listArchives } from './unpacked-archives';

/** Maximum number of model folders. */
export const MAX_MODELS = 1000;

/** Name of a model file or archive. */
export const MODEL_FILE = /\.(?:pt2?|mar)$/;

/** Where the files of a model are. */
export interface ModelLocation {
  readonly name: string;
  /** Folder of the model's files, or of its version folders. */
  readonly folder: string;
  /** The only file of the folder that belongs to the model, with its settings; null: the whole folder. */
  readonly file: string | null;
  /** Directory that links of the model must not leave. */
  readonly root: string;
  /** True for a path that is itself a model; false for a folder of a model repository. */
  readonly isSingle: boolean;
}

export interface FolderListing {
  /** Names of models, sorted. */
  readonly names: readonly string[];
  /** Folders that are ignored, with the reason. */
  readonly problems: readonly string[];
}

/** A path of the command line, resolved: one model, or a model repository with one folder per model. */
type ResolvedPath = { readonly model: ModelLocation } | { readonly directory: string };

/** Paths of the command line. Each one is a model repository, a model folder or a model file. */
export class RepositoryPaths {
  readonly paths: readonly string[];
  /** Resolved paths; a path that is missing is resolved again, since a volume can be mounted later. */
  readonly #resolved = new Map<string, ResolvedPath>();

  /** @param paths absolute paths, at least one */
  constructor(paths: readonly string[]) {
    this.paths = paths;
  }

  /** Lists the models, without folders that begin with a dot. @throws ModelFileError: a directory cannot be read */
  list(): FolderListing {
    const names = new Set<string>();
    const problems: string[] = [];
    let left = 0;
    for (const found of this.paths.map((one) => this.#resolve(one))) {
      const candidates = 'model' in found ? [found.model.name] : modelFolders(found.directory);
      for (const name of candidates) {
        if (!MODEL_NAME.pattern.test(name))
          problems.push(
            `${JSON.stringify(name)}: not a model name. Use letters, digits, ".", "_" and "-"`,
          );
        else if (names.has(name))
          problems.push(`${JSON.stringify(name)}: several paths have this name`);
        else if (names.size < MAX_MODELS) names.add(name);
        else left++;
      }
    }
    if (left > 0)
      problems.push(`${left} folders over the limit of ${MAX_MODELS} models are left out`);
    return { names: [...names].sort(), problems: problems.slice(0, MAX_MODELS) };
  }

  /** Location of a model; of equal names, the first path has it. Null: no such model. */
  find(name: string): ModelLocation | null {
    if (!MODEL_NAME.pattern.test(name)) return null;
    for (const found of this.paths.map((one) => this.#resolve(one))) {
      if ('directory' in found) {
        const folder = path.join(found.directory, name);
        if (!isDirectory(folder)) continue;
        return { name, folder, file: null, root: found.directory, isSingle: false };
      }
      if (found.model.name === name && isDirectory(found.model.folder)) return found.model;
    }
    return null;
  }

  /** The model of a path that is itself a model; null: no such path. */
  findSingle(name: string): ModelLocation | null {
    for (const found of this.paths.map((one) => this.#resolve(one))) {
      if ('model' in found && found.model.name === name) return found.model;
    }
    return null;
  }

  /** Removes the paths from a message for clients. */
  redact(message: string): string {
    const roots = this.paths.map((one) => {
      const found = this.#resolve(one);
      return 'model' in found ? found.model.root : found.directory;
    });
    return [...roots, ...this.paths].reduce((text, root) => text.replaceAll(root, ''), message);
  }

  #resolve(given: string): ResolvedPath {
    const known = this.#resolved.get(given);
    if (known) return known;
    try {
      const isFile = MODEL_FILE.test(given) && statSync(given).isFile();
      const found: ResolvedPath =
        isFile || isModel(given) ? { model: singleModel(given, isFile) } : { directory: given };
      this.#resolved.set(given, found);
      return found;
    } catch (error) {
      // The load reports an error in the files of a model; `list` reports other errors.
      const isInvalid = error instanceof ModelFileError && !hasModelFolders(given);
      return isInvalid ? { model: singleModel(given, false) } : { directory: given };
    }
  }
}

/** The name is that of the given path, also if it is a link to a folder with another name. */
function singleModel(given: string, isFile: boolean): ModelLocation {
  const real = realpathSync(given);
  const folder = isFile ? path.dirname(real) : real;
  return {
    name: isFile ? path.parse(given).name : path.basename(given),
    folder,
    file: isFile ? real : null,
    root: path.dirname(folder),
    isSingle: true,
  };
}

/** Whether a directory is a model: it contains model files, and no sub-folder contains a model. */
function isModel(directory: string): boolean {
  const found = findAllModels(directory);
  if (found.length === 0 || found.includes(directory)) return found.length > 0;
  return !hasModelFolders(directory);
}

function hasModelFolders(directory: string): boolean {
  return modelFolders(directory).some((name) => hasModels(path.join(directory, name)));
}

/** Whether a folder contains a model, or version folders. An unreadable folder counts: its load reports the error. */
function hasModels(folder: string): boolean {
  try {
    return (
      findAllModels(folder).length > 0 ||
      readdirSync(folder).some((name) => /^[1-9]\d*$/.test(name))
    );
  } catch {
    return true;
  }
}

/** Paths of all models and archives directly in a folder. */
export function findAllModels(folder: string): readonly string[] {
  return [
    ...new Set(TASKS.flatMap((task) => task.findModelPaths(folder))),
    ...listArchives(folder),
  ];
}

function modelFolders(directory: string): readonly string[] {
  return [...readEntries(directory)]
    .filter((entry) => !entry.name.startsWith('.') && isFolder(directory, entry))
    .map(({ name }) => name);
}

function isDirectory(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export function isFolder(directory: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    const stats = statSync(path.join(directory, entry.name), { throwIfNoEntry: false });
    return stats?.isDirectory() ?? false;
  } catch {
    return true; // An invalid link does not affect other folders: its load reports the error.
  }
}

function* readEntries(directory: string): Generator<Dirent> {
  let folder: ReturnType<typeof opendirSync>;
  try {
    folder = opendirSync(directory);
  } catch (error) {
    throw new ModelFileError(
      `MODELS_DIR: cannot be read: ${(error as NodeJS.ErrnoException).code}`,
    );
  }
  try {
    for (let entry = folder.readSync(); entry; entry = folder.readSync()) yield entry;
  } finally {
    folder.closeSync();
  }
}
