import path from 'node:path';
import { z } from 'zod';
import type { TaskAdapters } from '../../native/engine';
import { ModelFileError } from '../files';
import { checkModelJson, quoted, readModelJson } from '../json';
import { foldersOfModelJson } from '../peft/base-folder';

const MODEL_JSON = 'model.json';
const MAX_TASKS = 64;
const MAX_RANK = 65_536;

const configSchema = z.looseObject({
  lora_adaptations: z.array(z.string()).min(1).max(MAX_TASKS).nullish(),
  lora_rank: z.int().positive().max(MAX_RANK).default(4),
  lora_alpha: z.number().default(1),
  task_instructions: z.record(z.string(), z.string()).nullish(),
});

const modelJsonSchema = z.looseObject({ adapter: z.string().optional() });

/** Tasks of a model whose file has LoRA factors of several tasks. */
export interface AdapterTasks {
  readonly adapters: TaskAdapters;
  /** Name and instruction of each task, in the order of the factors. An instruction may be empty. */
  readonly instructions: ReadonlyMap<string, string>;
  /** Instruction of the default task; empty: none. */
  readonly defaultInstruction: string;
}

/**
 * Reads the tasks of a model with several LoRA adapters (jina-embeddings-v3). `adapter` of model.json
 * is the task of requests without a task. Without that key no update applies to them, as in the
 * original code.
 *
 * Source: modeling_lora.py of jinaai/xlm-roberta-flash-implementation (XLMRobertaLoRA).
 *
 * @param config content of config.json
 * @returns null if the model has no such adapters
 * @throws ModelFileError
 */
export function readAdapterTasks(directory: string, config: unknown): AdapterTasks | null {
  const { lora_adaptations, lora_rank, lora_alpha, task_instructions } = checkModelJson(
    'config.json',
    configSchema,
    config,
  );
  const name = selectedName(directory);
  if (lora_adaptations == null) {
    if (name === undefined) return null;
    const problem = 'the model has no lora_adaptations in config.json. Remove the key';
    throw new ModelFileError(`${MODEL_JSON}: adapter: ${problem}`);
  }
  const twice = lora_adaptations.find((task, index) => lora_adaptations.indexOf(task) < index);
  if (twice !== undefined) {
    throw new ModelFileError(`config.json: lora_adaptations: ${quoted(twice)} is listed twice`);
  }
  const defaultTask = name === undefined ? -1 : lora_adaptations.indexOf(name);
  if (name !== undefined && defaultTask < 0) {
    const known = lora_adaptations.join(', ');
    throw new ModelFileError(
      `${MODEL_JSON}: adapter: expected one of ${known}, found ${quoted(name)}`,
    );
  }
  return {
    adapters: {
      tasks: lora_adaptations.length,
      rank: lora_rank,
      scale: lora_alpha / lora_rank,
      ...(defaultTask >= 0 && { defaultTask }),
    },
    instructions: new Map(
      lora_adaptations.map((task) => [task, task_instructions?.[task] ?? ''] as const),
    ),
    defaultInstruction: (name !== undefined && task_instructions?.[name]) || '',
  };
}

function selectedName(directory: string): string | undefined {
  for (const folder of foldersOfModelJson(path.resolve(directory))) {
    const content = readModelJson(folder, MODEL_JSON) ?? {};
    const { adapter } = checkModelJson(MODEL_JSON, modelJsonSchema, content);
    if (adapter !== undefined) return adapter;
  }
  return undefined;
}
