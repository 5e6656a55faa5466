import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { fileSize, ModelFileError } from '../files';
import { quoted, requireModelJson } from '../json';
import { weightsFolder } from '../peft/adapter';
import { SAVED_WEIGHTS } from './weight-names';

/** Programs with their weights (torch.export, TorchScript), searched after the weight files. */
const PROGRAMS = ['model.pt2', 'model.pt'];

/**
 * Name of a file in the model folder: no path separator, only printable characters, at most 255
 * characters.
 */
const FILE_NAME = /^[^/\\\p{Cc}]{1,255}$/u;

const indexSchema = z.looseObject({ weight_map: z.record(z.string(), z.string()) });

/** Absolute paths of the weight files, or of a program that contains its weights. */
export type ModelFiles = { readonly weightFiles: readonly string[] } | { readonly program: string };

/**
 * Finds the weights or the program of a model folder; for a LoRA adapter, the weights of its base.
 *
 * @throws ModelFileError
 */
export function findModelFiles(folder: string): ModelFiles {
  const directory = weightsFolder(folder);
  const has = (name: string): boolean => fileSize(directory, name) !== null;
  const name = SAVED_WEIGHTS.find(has);
  if (name) {
    const names = name.endsWith('.json') ? findShards(directory, name) : [name];
    return { weightFiles: requireMemoryFor(directory, names) };
  }
  const program = PROGRAMS.find(has);
  if (program && directory !== folder) {
    throw new ModelFileError(
      `${program}: the base model of an adapter needs weights, not a program`,
    );
  }
  if (program) return { program: path.join(directory, program) };
  const [first, ...others] = [...SAVED_WEIGHTS, ...PROGRAMS];
  throw new ModelFileError(`${first}: not found, nor ${others.join(', nor ')}`);
}

/** Whether the model in a folder is a program that contains its weights. */
export function hasProgram(directory: string): boolean {
  const has = (name: string): boolean => fileSize(directory, name) !== null;
  return !SAVED_WEIGHTS.some(has) && PROGRAMS.some(has);
}

function findShards(directory: string, index: string): readonly string[] {
  const { weight_map } = requireModelJson(directory, index, indexSchema);
  const extension = path.extname(index.replace(/\.index\.json$/, ''));
  const names = [...new Set(Object.values(weight_map))].sort();
  if (names.length === 0) throw new ModelFileError(`${index}: weight_map: names no weights`);
  for (const name of names) {
    if (!FILE_NAME.test(name) || path.extname(name) !== extension) {
      throw new ModelFileError(
        `${index}: weight_map: expected the name of a ${extension} file beside it, ` +
          `found ${quoted(name)}`,
      );
    }
    if (fileSize(directory, name) === null) {
      throw new ModelFileError(`${name}: not found, although ${index} lists it`);
    }
  }
  return names;
}

/** Rejects weights larger than the available memory: loading copies all weights into memory. */
function requireMemoryFor(directory: string, names: readonly string[]): readonly string[] {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const memory = Math.min(os.totalmem(), constrained);
  const bytes = names.reduce((sum, name) => sum + (fileSize(directory, name) ?? 0), 0);
  if (bytes > memory) {
    throw new ModelFileError(
      `${names[0]}: holds ${gigabytes(bytes)} GB of weights${names.length > 1 ? ' with the other shards' : ''}, ` +
        `but the memory limit of this process is ${gigabytes(memory)} GB`,
    );
  }
  return names.map((name) => path.join(directory, name));
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1);
}
