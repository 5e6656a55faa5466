import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { fileSize, isWithin, ModelFileError } from '../files';
import { checkModelJson, quoted, readModelJson } from '../json';

export const ADAPTER_SETTINGS = 'adapter_config.json';
const CONFIG = 'config.json';
const MODEL_JSON = 'model.json';

/** Name of a folder of a model version. */
const VERSION = /^[1-9]\d{0,8}$/;

/** Name of a folder: no path separator, no control characters, not `.` or `..`. */
const NAME = /^(?!\.{1,2}$)[^/\\\p{Cc}]{1,255}$/u;

const modelJsonSchema = z.looseObject({ base: z.string().optional() });

/**
 * Whether a text is a valid `base` of model.json: the name of a folder, or a folder and its version.
 */
export function isBaseName(text: string): boolean {
  const parts = text.split('/');
  return parts.length <= 2 && parts.every((part) => NAME.test(part));
}

/**
 * Finds the folder of an adapter's base model next to the folder of the adapter: the folder that
 * `base` of model.json names, or `base_model_name_or_path` as a relative path or by its last part
 * (`google-bert/bert-base-uncased` → `../bert-base-uncased`). No path leaves the folder that
 * contains the adapter. For a version folder, `base` of the model's model.json names a folder next
 * to the folder of the model.
 *
 * @param named base_model_name_or_path of adapter_config.json
 * @returns absolute path
 * @throws ModelFileError
 */
export function findBaseFolder(adapter: string, named: string | null): string {
  const folder = path.resolve(adapter);
  const parent = path.dirname(folder);
  // Only with this key: a model whose name is a number would otherwise leave its repository.
  for (const model of foldersOfModelJson(folder)) {
    const chosen = readBaseName(model);
    if (chosen === undefined) continue;
    const found = firstModel(path.dirname(model), [chosen], folder);
    return found ?? fail(`${MODEL_JSON}: base`, chosen, 'Copy the base model there');
  }
  const key = `${ADAPTER_SETTINGS}: base_model_name_or_path`;
  if (named === null) {
    throw new ModelFileError(`${key}: required, but missing. Set "base" in ${MODEL_JSON}`);
  }
  const name = named.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  const names = [...relativeNames(parent, folder, named), ...(NAME.test(name) ? [name] : [])];
  const found = firstModel(parent, names, folder);
  const fix = `Copy the base model there, or set "base" in ${MODEL_JSON}`;
  return found ?? fail(key, name, fix);
}

/** Folders whose model.json applies to a model folder: its own, and for a version that of the model. */
export function foldersOfModelJson(folder: string): readonly string[] {
  return VERSION.test(path.basename(folder)) ? [folder, path.dirname(folder)] : [folder];
}

function fail(key: string, name: string, fix: string): never {
  const expected = `expected the folder ${quoted(name)} of the base model next to the adapter's folder`;
  throw new ModelFileError(`${key}: ${expected}, found none. ${fix}`);
}

function readBaseName(folder: string): string | undefined {
  const { base } = checkModelJson(
    MODEL_JSON,
    modelJsonSchema,
    readModelJson(folder, MODEL_JSON) ?? {},
  );
  if (base === undefined || isBaseName(base)) return base;
  throw new ModelFileError(`${MODEL_JSON}: base: expected the name of a folder`);
}

/** The path relative to the parent; empty for absolute paths and folders outside of the parent. */
function relativeNames(parent: string, folder: string, named: string): readonly string[] {
  if (path.isAbsolute(named) || /\p{Cc}/u.test(named)) return [];
  const target = path.resolve(folder, named);
  return isWithin(parent, target) ? [path.relative(parent, target)] : [];
}

/** The first existing model folder, except the adapter's own. @throws ModelFileError */
function firstModel(parent: string, names: readonly string[], adapter: string): string | undefined {
  const found = names.find((name) => {
    const base = path.join(parent, name);
    if (base === adapter || !isFolderWithin(parent, base, name)) return false;
    return [CONFIG, ADAPTER_SETTINGS].some((file) => fileSize(base, file) !== null);
  });
  if (found === undefined) return undefined;
  const base = path.join(parent, found);
  if (fileSize(base, ADAPTER_SETTINGS) !== null) {
    throw new ModelFileError(
      `${ADAPTER_SETTINGS}: base_model_name_or_path: the base model ${quoted(found)} is an adapter itself. ` +
        'Merge it into its own base with merge_and_unload() of peft, and save the model',
    );
  }
  return base;
}

/** Rejects links to other folders, which could lead to any file of the machine. */
function isFolderWithin(parent: string, base: string, name: string): boolean {
  let real: string;
  try {
    if (!statSync(base, { throwIfNoEntry: false })?.isDirectory()) return false;
    real = realpathSync(base);
  } catch (error) {
    throw new ModelFileError(`${name}: cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  if (isWithin(realpathSync(parent), real)) return true;
  throw new ModelFileError(
    `${name}: is a link that leads out of the directory of models. Copy the base model there`,
  );
}
