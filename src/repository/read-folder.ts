/** Reads the folders and files of a model repository. Runs on the reader thread (folder-reader-thread.ts). */
import { createHash } from 'node:crypto';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { redactPaths } from '../lib/redact-paths';
import { fileIdentity, isWithin, ModelFileError } from '../models/files';
import type { Dtype, ModelSource } from '../native/engine';
import type { ClassifierMetadata, ModelMetadata } from '../tasks/capabilities';
import { matchTasks } from '../tasks/registry';
import type { Task } from '../tasks/task';
import { estimateMemory } from './memory-budget';
import { MODEL_JSON, type ModelJson, readModelSettings, VERSION_FOLDER } from './model-json';
import { findAllModels, isFolder, type ModelLocation } from './repository-paths';
import { listArchives, type UnpackedArchives } from './unpacked-archives';

/** Maximum number of version folders of a model. */
const MAX_VERSIONS = 1000;

/** Maximum number of versions that `latest` tries: if the highest version fails, the next lower version is loaded. */
const MAX_LATEST_ATTEMPTS = 3;
/** A version with valid files. */
export interface ReadableVersion {
  /** Number of the version; `1` for a model without version folders. */
  readonly version: string;
  readonly task: Task['name'];
  /** Absolute path of the model's folder or file. */
  readonly path: string;
  readonly source: ModelSource;
  readonly metadata: ModelMetadata;
  /** Hash of the files' identity and the load options; differs after a change. */
  readonly fingerprint: string;
  /** Maximum memory of the model in bytes. */
  readonly memoryNeeded: number;
}

/** A version with invalid files. */
export interface UnreadableVersion {
  readonly version: string;
  /** Load error for clients, without paths. */
  readonly problem: string;
}

export interface ModelFolder {
  readonly settings: ModelJson;
  /** Versions to load, ascending. For `latest`: candidates, of which the highest loadable version is loaded. */
  readonly versions: readonly (ReadableVersion | UnreadableVersion)[];
}

/**
 * Reads a model folder: model.json and the versions to load.
 *
 * @param dtype number format of text models without `dtype` in model.json
 * @throws ModelFileError: the folder or its model.json is invalid
 */
export async function readModel(
  { name, folder, file, root, isSingle }: ModelLocation,
  { dtype, unpacked }: { readonly dtype: Dtype; readonly unpacked: UnpackedArchives },
): Promise<ModelFolder> {
  requireWithin(root, folder, name);
  const fromFile = readModelSettings(folder, dtype);
  // A model that the command line names is required.
  const settings = { ...fromFile, required: fromFile.required || isSingle };
  const read = (versionFolder: string, version: string) =>
    readVersion({ name, folder: versionFolder, file, version }, settings, unpacked);
  if (file !== null) return { settings, versions: [await read(folder, '1')] };
  const numbers = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => VERSION_FOLDER.test(entry.name) && isFolder(folder, entry))
    .map((entry) => Number(entry.name))
    .sort((a, b) => a - b)
    .slice(-MAX_VERSIONS);
  const chosen = selectVersions(numbers, settings).map(String);
  const folders =
    numbers.length === 0 ? [folder] : chosen.map((version) => path.join(folder, version));
  unpacked.removeOf(name, folders);
  if (numbers.length === 0) return { settings, versions: [await read(folder, '1')] };
  const isMixed = findAllModels(folder).length > 0;
  if (isMixed) {
    throw new ModelFileError(
      `${name}: has a model next to version folders. Move the model into a version folder`,
    );
  }
  const versions: (ReadableVersion | UnreadableVersion)[] = [];
  for (const version of chosen) {
    const versionFolder = path.join(folder, version);
    const problem = `${MODEL_JSON}: versions: there is no folder "${version}"`;
    const exists = statSync(versionFolder, { throwIfNoEntry: false }) !== undefined;
    versions.push(exists ? await read(versionFolder, version) : { version, problem });
  }
  return { settings, versions };
}

function selectVersions(numbers: readonly number[], { versions }: ModelJson): readonly number[] {
  if (versions === 'latest') return numbers.slice(-MAX_LATEST_ATTEMPTS);
  return versions === 'all' ? numbers : [...new Set(versions)].sort((a, b) => a - b);
}

/** Where the files of a version are. */
type VersionLocation = Pick<ModelLocation, 'name' | 'folder' | 'file'> & {
  readonly version: string;
};

async function readVersion(
  { name, folder, file, version }: VersionLocation,
  settings: ModelJson,
  unpacked: UnpackedArchives,
): Promise<ReadableVersion | UnreadableVersion> {
  try {
    requireWithin(path.dirname(folder), folder, path.basename(folder));
    const archive = findArchive(folder, file);
    const modelFolder = archive === null ? folder : await unpacked.folderOf(archive, name);
    const { task, modelPath } = findModel(modelFolder, archive === null ? file : null, settings);
    const { source: fileSource, metadata: fileMetadata } = task.read(modelPath);
    const source = withLabels(fileSource, settings);
    const { dtype, max_queue_requests, max_queue_wait_ms, weight, abilities } = settings;
    const metadata = {
      ...fileMetadata,
      ...longTextMetadata(task, settings),
      ...hypothesisMetadata(task, settings),
      ...(abilities && { abilities }),
    };
    const { longTexts, hypotheses } = metadata;
    const queue = [max_queue_requests, max_queue_wait_ms, weight];
    const loadedAs = [
      task.name,
      dtype,
      ...queue,
      longTexts,
      hypotheses,
      abilities,
      settings.labels,
    ];
    const files = archive === null ? task.listFiles(modelPath) : [archive];
    const fingerprint = computeFingerprint(files, loadedAs);
    return {
      version,
      task: task.name,
      path: modelPath,
      source,
      metadata,
      fingerprint,
      memoryNeeded: estimateMemory(source, dtype),
    };
  } catch (error) {
    const { message } = error as Error;
    return { version, problem: redactPaths(message.replaceAll(`${folder}${path.sep}`, '')) };
  }
}

/** The model with labels that it encodes when it loads. @throws ModelFileError: it has no encoder of labels */
function withLabels(source: ModelSource, { labels }: ModelJson): ModelSource {
  if (!labels) return source;
  if (source.type === 'text-encoder' && source.labelEncoder) {
    return { ...source, labelEncoder: { ...source.labelEncoder, labels } };
  }
  throw new ModelFileError(
    `${MODEL_JSON}: labels: expected a GLiNER model with an encoder of labels. Remove it`,
  );
}

/** Default windowing of long texts. @throws ModelFileError: the task does not support windows */
function longTextMetadata(
  task: Task,
  { long_texts, stride, combine }: ModelJson,
): Pick<ClassifierMetadata, 'longTexts'> {
  if (long_texts === 'truncate') return {};
  if (task.capabilities.includes('text-classification')) return { longTexts: { stride, combine } };
  throw new ModelFileError(`${MODEL_JSON}: long_texts: is for text classifiers`);
}

/** Hypotheses for decisions. @throws ModelFileError: the model is not an NLI model */
function hypothesisMetadata(
  task: Task,
  { decision }: ModelJson,
): Pick<ClassifierMetadata, 'hypotheses'> {
  if (!decision) return {};
  if (task.capabilities.includes('text-classification')) return { hypotheses: decision };
  throw new ModelFileError(
    `${MODEL_JSON}: decision: expected an NLI model, the task is ${task.name}. Remove it`,
  );
}

/** Archive in a model folder; null: the folder contains the model files. @throws ModelFileError: several models */
function findArchive(folder: string, file: string | null): string | null {
  if (file !== null) return file.endsWith('.mar') ? file : null;
  const [archive] = listArchives(folder);
  if (archive === undefined) return null;
  const names = findAllModels(folder).map((file) => path.basename(file));
  if (names.length > 1) {
    throw new ModelFileError(`expected one model, found ${names.join(', ')}`);
  }
  return archive;
}

function findModel(
  folder: string,
  file: string | null,
  { task: taskName }: ModelJson,
): { readonly task: Task; readonly modelPath: string } {
  const matches = matchTasks(folder).filter(
    ([{ name }, modelPath]) =>
      (taskName === undefined || name === taskName) && (file === null || modelPath === file),
  );
  const [first] = matches;
  if (first === undefined) {
    const problem =
      'expected config.json next to its weights, or one .pt or .pt2 file, found neither';
    throw new ModelFileError(taskName ? `task: ${taskName}: ${problem}` : problem);
  }
  const [task, modelPath] = first;
  const names = matches.filter(([match]) => match === task).map(([, file]) => path.basename(file));
  if (names.length > 1) {
    throw new ModelFileError(`expected one model, found ${names.join(', ')}`);
  }
  return { task, modelPath };
}

/** Hash of the files' identity and the load options, equal for several names of the same files. */
function computeFingerprint(files: readonly string[], settings: readonly unknown[]): string {
  const identities = files.map((file) => `${path.basename(file)},${fileIdentity(file)}`);
  return createHash('sha256')
    .update(JSON.stringify([identities, settings]))
    .digest('hex');
}

/** Rejects a link to outside of the repository. @throws ModelFileError */
function requireWithin(directory: string, folder: string, name: string): void {
  if (isWithin(realpathSync(directory), realpathSync(folder))) return;
  throw new ModelFileError(`${name}: is a link that leads out of the directory of models`);
}
