/** What lies in a directory of models. All of it reads files, and runs on a thread of its own (folder-reader-thread.ts). */
import { createHash } from 'node:crypto';
import { type Dirent, opendirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { redactPaths } from '../lib/redact-paths';
import { fileIdentity, isWithin, ModelFileError } from '../models/files';
import type { Dtype, ModelSource } from '../native/engine';
import { MODEL_NAME } from '../settings/parsers';
import type { ClassifierMetadata, ModelMetadata } from '../tasks/capabilities';
import { matchTasks, TASKS } from '../tasks/registry';
import type { Task } from '../tasks/task';
import { estimateMemory } from './memory-budget';
import { MODEL_JSON, type ModelJson, readModelSettings, VERSION_FOLDER } from './model-json';
import { listArchives, type UnpackedArchives } from './unpacked-archives';

/** Folders of a directory that are looked at; nobody has as many models. */
export const MAX_MODELS = 1000;
/** Of a model. */
const MAX_VERSIONS = 1000;

/** Of the latest versions: where one cannot be loaded, the one before it is. */
const MAX_LATEST_ATTEMPTS = 3;
/** Of a folder, that are looked at for changes. */
const MAX_STAMPED_FILES = 10_000;

/** A version whose files can be loaded. */
export interface ReadableVersion {
  /** A number; of a model without folders of versions `1`. */
  readonly version: string;
  readonly task: Task['name'];
  /** Absolute path: the model's folder, or its file. */
  readonly path: string;
  readonly source: ModelSource;
  readonly metadata: ModelMetadata;
  /** Another one: its files, or what model.json says of how they are loaded, have changed. */
  readonly fingerprint: string;
  /** While it is loaded, in bytes, at most. */
  readonly memoryNeeded: number;
}

/** A version whose files are not as they have to be. */
export interface UnreadableVersion {
  readonly version: string;
  /** For clients, without paths. */
  readonly problem: string;
}

export interface ModelFolder {
  readonly settings: ModelJson;
  /** Those that are to be loaded, the highest last; of `latest` the first from there that can be. */
  readonly versions: readonly (ReadableVersion | UnreadableVersion)[];
}

export interface FolderListing {
  /** Of folders that may be models, sorted. */
  readonly names: readonly string[];
  /** Of all others, with the reason. */
  readonly problems: readonly string[];
}

/** Where models are: all sub-folders of a directory, or the only one that is meant. */
export interface RepositoryPath {
  readonly directory: string;
  /** Name of the sub-folder; null: all. */
  readonly only: string | null;
}

/** @param directory of models, or a Hugging Face directory itself */
export function resolveRepositoryPath(directory: string): RepositoryPath {
  const all = { directory, only: null };
  try {
    if (!findAllModels(directory).includes(directory)) return all;
    const folder = realpathSync(directory);
    return { directory: path.dirname(folder), only: path.basename(folder) };
  } catch {
    return all; // what is wrong with it is said when it is listed
  }
}

/** Names of the sub-folders; what begins with a dot is nobody's model. @throws ModelFileError */
export function listModels({ directory, only }: RepositoryPath): FolderListing {
  if (only !== null) {
    const isName = MODEL_NAME.pattern.test(only);
    const problems = isName ? [] : [`${JSON.stringify(only)}: is no name of a model`];
    return { names: isName ? [only] : [], problems };
  }
  const names: string[] = [];
  const problems: string[] = [];
  let left = 0;
  for (const entry of readEntries(directory)) {
    if (entry.name.startsWith('.') || !isFolder(directory, entry)) continue;
    if (!MODEL_NAME.pattern.test(entry.name))
      problems.push(`${JSON.stringify(entry.name)}: is no name of a model`);
    else if (names.length < MAX_MODELS) names.push(entry.name);
    else left++;
  }
  if (left > 0)
    problems.push(`${left} folders over the limit of ${MAX_MODELS} models are left out`);
  return { names: names.sort(), problems: problems.slice(0, MAX_MODELS) };
}

/** By name, a digest of what lies in the folder and below: names, sizes, times. @throws ModelFileError */
export function folderStamps(place: RepositoryPath): Readonly<Record<string, string>> {
  const { names } = listModels(place);
  const stamp = (name: string): string => {
    const folder = path.join(place.directory, name);
    // Without the one folder that was given, nothing is known: it may come again.
    return place.only === null ? stampIfReadable(folder) : stampFolder(folder);
  };
  return Object.fromEntries(names.map((name) => [name, stamp(name)]));
}

/** A folder that cannot be read hides no other. Its loading reports the reason. */
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

/**
 * What is to be loaded of a folder.
 *
 * @param dtype of text models whose model.json names none
 * @returns null: there is no such folder
 * @throws ModelFileError: nothing of it can be loaded
 */
export async function readModel(
  { directory, only }: RepositoryPath,
  name: string,
  { dtype, unpacked }: { readonly dtype: Dtype; readonly unpacked: UnpackedArchives },
): Promise<ModelFolder | null> {
  const folder = path.join(directory, name);
  if (only !== null && name !== only) return null;
  if (!MODEL_NAME.pattern.test(name) || !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return null;
  requireWithin(directory, folder, name);
  const settings = readModelSettings(folder, dtype);
  const read = (place: string, version: string) => readVersion(place, version, settings, unpacked);
  const numbers = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => VERSION_FOLDER.test(entry.name) && isFolder(folder, entry))
    .map((entry) => Number(entry.name))
    .sort((a, b) => a - b)
    .slice(-MAX_VERSIONS);
  const chosen = selectVersions(numbers, settings).map(String);
  const places = numbers.length === 0 ? [folder] : chosen.map((one) => path.join(folder, one));
  unpacked.removeBelow(folder, places);
  if (numbers.length === 0) return { settings, versions: [await read(folder, '1')] };
  const isMixed = findAllModels(folder).length > 0;
  if (isMixed) {
    throw new ModelFileError(`${name}: has a model beside folders of versions: move it into one`);
  }
  const versions: (ReadableVersion | UnreadableVersion)[] = [];
  for (const version of chosen) {
    const place = path.join(folder, version);
    const problem = `${MODEL_JSON}: versions: there is no folder "${version}"`;
    const isThere = statSync(place, { throwIfNoEntry: false }) !== undefined;
    versions.push(isThere ? await read(place, version) : { version, problem });
  }
  return { settings, versions };
}

/** Of all tasks, and archives. */
function findAllModels(folder: string): readonly string[] {
  return [
    ...new Set(TASKS.flatMap((task) => task.findModelPaths(folder))),
    ...listArchives(folder),
  ];
}

function selectVersions(numbers: readonly number[], { versions }: ModelJson): readonly number[] {
  if (versions === 'latest') return numbers.slice(-MAX_LATEST_ATTEMPTS);
  return versions === 'all' ? numbers : [...new Set(versions)].sort((a, b) => a - b);
}

async function readVersion(
  folder: string,
  version: string,
  settings: ModelJson,
  unpacked: UnpackedArchives,
): Promise<ReadableVersion | UnreadableVersion> {
  try {
    requireWithin(path.dirname(folder), folder, path.basename(folder));
    const archive = findArchive(folder);
    const home = archive === null ? folder : await unpacked.folderOf(archive);
    const { task, place } = findModel(home, settings);
    const { source, metadata: known } = task.read(place);
    const metadata = { ...known, ...longTextMetadata(task, settings) };
    const { dtype, max_queue_requests, max_queue_wait_ms, weight } = settings;
    const { longTexts } = metadata;
    const loadedAs = [task.name, dtype, max_queue_requests, max_queue_wait_ms, weight, longTexts];
    const files = archive === null ? task.listFiles(place) : [archive];
    const fingerprint = computeFingerprint(files, loadedAs);
    const needed = estimateMemory(source, dtype);
    return {
      version,
      task: task.name,
      path: place,
      source,
      metadata,
      fingerprint,
      memoryNeeded: needed,
    };
  } catch (error) {
    const { message } = error as Error;
    return { version, problem: redactPaths(message.replaceAll(`${folder}${path.sep}`, '')) };
  }
}

/** What becomes of texts that are longer than a classifier takes. @throws ModelFileError */
function longTextMetadata(
  task: Task,
  { long_texts, stride, combine }: ModelJson,
): Pick<ClassifierMetadata, 'longTexts'> {
  if (long_texts === 'truncate') return {};
  if (task.capabilities.includes('text-classification')) return { longTexts: { stride, combine } };
  throw new ModelFileError(`${MODEL_JSON}: long_texts: is for text classifiers`);
}

/** null: its files lie in the folder itself. @throws ModelFileError: there is another model beside it */
function findArchive(folder: string): string | null {
  const [archive] = listArchives(folder);
  if (archive === undefined) return null;
  const names = findAllModels(folder).map((place) => path.basename(place));
  if (names.length > 1) {
    throw new ModelFileError(`expected one model, found ${names.join(', ')}`);
  }
  return archive;
}

function findModel(folder: string, { task: named }: ModelJson): { task: Task; place: string } {
  const claims = matchTasks(folder).filter(([{ name }]) => named === undefined || name === named);
  const [first] = claims;
  if (first === undefined) {
    const what = 'expected config.json beside its weights, or one .pt or .pt2 file, found neither';
    throw new ModelFileError(named ? `task: ${named}: ${what}` : what);
  }
  const [task, place] = first;
  const places = claims.filter(([one]) => one === task).map(([, where]) => path.basename(where));
  if (places.length > 1) {
    throw new ModelFileError(`expected one model, found ${places.join(', ')}`);
  }
  return { task, place };
}

/** Of what and how it is loaded, without its content: the same for two names of the same files. */
function computeFingerprint(files: readonly string[], settings: readonly unknown[]): string {
  const of = files.map((file) => `${path.basename(file)},${fileIdentity(file)}`);
  return createHash('sha256')
    .update(JSON.stringify([of, settings]))
    .digest('hex');
}

/** A link leads nowhere else. @throws ModelFileError */
function requireWithin(directory: string, folder: string, name: string): void {
  if (isWithin(realpathSync(directory), realpathSync(folder))) return;
  throw new ModelFileError(`${name}: is a link that leads out of the directory of models`);
}

function isFolder(directory: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    const stats = statSync(path.join(directory, entry.name), { throwIfNoEntry: false });
    return stats?.isDirectory() ?? false;
  } catch {
    return true; // a link that cannot be followed hides no other folder: its loading reports the reason
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
