import path from 'node:path';
import { z } from 'zod';
import type {
  SentenceModule,
  TextHead,
  TextModelSource,
  TextProgramSource,
  TokenizerOverrides,
} from '../../native/engine';
import { ModelFileError } from '../files';
import {
  CONFIG,
  type ModelConfig,
  modelConfig,
  programSource,
  readDirectory,
  readIdentity,
  weightsSource,
} from '../hugging-face/directory';
import { withTransformersKeys } from '../hugging-face/original-configs';
import { readAdapterTasks } from '../hugging-face/task-adapters';
import { findModelFiles, hasProgram } from '../hugging-face/weight-files';
import { checkModelJson } from '../json';
import { readSentenceDirectory, type SentenceDirectory } from './directory';
import type { TransformerTask } from './transformer';

/** Prompt settings of an embedding model. */
export interface PromptSettings {
  /** Prompts by name. A prompt is inserted before the text. */
  readonly prompts: Readonly<Record<string, string>>;
  /** Prompt of requests without a prompt name; empty: no prompt. */
  readonly defaultPrompt: string;
  /** Whether pooling excludes the tokens of the prompt. */
  readonly excludesPrompt: boolean;
  /** Tasks with LoRA factors, by index. Each has a prompt of its name. Empty: none. */
  readonly tasks: readonly string[];
}

export interface SentenceModel<Source = TextModelSource> {
  readonly source: Source;
  /** Absolute paths of all files of the model that are read. */
  readonly files: readonly string[];
  readonly identity: { readonly name: string | null; readonly version: string | null };
  readonly prompted: PromptSettings;
  /** Hidden size of the encoder; 0 if config.json does not specify it. */
  readonly width: number;
  /** Settings of sentence-transformers; null for an encoder without modules. */
  readonly sentence: SentenceDirectory | null;
}

/** Hidden size of an encoder. DistilBERT calls this key `dim`. */
const widthSchema = z.looseObject({
  hidden_size: z.int().positive().nullish(),
  dim: z.int().positive().nullish(),
});

/**
 * Reads a model with weights: a sentence-transformers folder or a plain encoder folder.
 *
 * @param task task that the encoder performs
 * @param headOf returns the modules after the encoder; null if the folder does not specify any
 * @throws ModelFileError
 */
export function readSentenceModel(
  directory: string,
  task: TransformerTask,
  headOf: (sentence: SentenceDirectory | null) => TextHead,
): SentenceModel {
  const own = hasProgram(directory) ? findModelFiles(directory) : null;
  if (own && 'program' in own) return refuseProgram(own.program); // The transformers files do not override this.
  const read = readSentenceFiles(directory, task);
  const { sentence, encoder, config } = read;
  const found = findModelFiles(encoder);
  if ('program' in found) return refuseProgram(found.program);
  const { weightFiles } = found;
  const head = headOf(sentence);
  const modules = head.name === 'embedding' ? head.modules : [];
  const source = {
    ...weightsSource(encoder, config, { weightFiles, head }),
    ...readingOf(sentence),
  };
  return { source, ...describe(read, modules, weightFiles) };
}

/**
 * Rejects programs for this task.
 *
 * @throws ModelFileError
 */
function refuseProgram(program: string): never {
  const name = path.basename(program);
  throw new ModelFileError(`${name}: exported programs support text embeddings only`);
}

/**
 * Reads a program that computes the output of the last module in modules.json.
 *
 * @param modules modules after the encoder, which the program contains
 * @returns null if the folder contains weights
 * @throws ModelFileError
 */
export function readSentenceProgram(
  directory: string,
  modulesOf: (sentence: SentenceDirectory | null) => readonly SentenceModule[],
): SentenceModel<TextProgramSource> | null {
  const read = readSentenceFiles(directory, 'feature-extraction');
  const { sentence, encoder, config, width } = read;
  const found = findModelFiles(encoder);
  if (!('program' in found)) return null;
  const { program } = found;
  const modules = modulesOf(sentence);
  const described = describe(read, modules, [program]);
  if (described.prompted.excludesPrompt) {
    const name = path.basename(program);
    const what = `${name} cannot exclude prompt tokens from pooling`;
    throw new ModelFileError(`modules.json: Pooling: include_prompt: false: ${what}`);
  }
  const numLabels = dimensionsOf(width, modules);
  if (numLabels === 0) {
    throw new ModelFileError('config.json: hidden_size: required, but missing');
  }
  const source = programSource(encoder, config, { program, numLabels });
  return { source: { ...source, ...readingOf(sentence) }, ...described };
}

function readingOf(sentence: SentenceDirectory | null): TokenizerOverrides {
  return {
    ...(sentence?.maxLength != null && { maxLength: sentence.maxLength }),
    ...(sentence?.lowercases && { lowercases: true }),
  };
}

/** Returns the dimensions of the module output for a given hidden size. */
export function dimensionsOf(width: number, modules: readonly SentenceModule[]): number {
  return modules.reduce((size, module) => {
    if (module.type === 'dense') return module.outFeatures;
    return module.type === 'pooling' ? size * module.modes.length : size;
  }, width);
}

interface SentenceFiles {
  readonly sentence: SentenceDirectory | null;
  readonly encoder: string;
  readonly config: ModelConfig;
  readonly files: readonly string[];
  readonly width: number;
}

function readSentenceFiles(directory: string, task: TransformerTask): SentenceFiles {
  const sentence = readSentenceDirectory(directory, task);
  const encoder = sentence?.encoder ?? directory;
  const { config, files } = readDirectory(encoder, modelConfig);
  const { hidden_size, dim } = checkModelJson(CONFIG, widthSchema, withTransformersKeys(config));
  return { sentence, encoder, config, files, width: hidden_size ?? dim ?? 0 };
}

function describe(
  { sentence, encoder, config, files, width }: SentenceFiles,
  modules: readonly SentenceModule[],
  modelFiles: readonly string[],
): Omit<SentenceModel, 'source'> {
  const adapterTasks = readAdapterTasks(encoder, config);
  const instructions = Object.fromEntries(adapterTasks?.instructions ?? []);
  const { prompts = {}, defaultPromptName = null } = sentence ?? {};
  const defaultPrompt = defaultPromptName === null ? '' : (prompts[defaultPromptName] ?? '');
  return {
    files: [
      ...[...files, ...modelFiles, ...(sentence?.files ?? [])],
      ...modules.flatMap((module) => ('weightFiles' in module ? module.weightFiles : [])),
    ],
    identity: readIdentity(config),
    prompted: {
      prompts: { ...instructions, ...prompts },
      defaultPrompt: adapterTasks?.defaultInstruction || defaultPrompt,
      tasks: Object.keys(instructions),
      excludesPrompt: modules.some((module) => module.type === 'pooling' && !module.includePrompt),
    },
    width,
    sentence,
  };
}
