import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { inspectProgram } from '../../native/addon';
import type { ModelDescription, ProgramReport, SchedulingOptions } from '../../native/engine';
import type { ModelMetadata } from '../../tasks/capabilities';
import { declaredFirst, TASKS } from '../../tasks/registry';
import type { Task } from '../../tasks/task';
import { TaskModel } from '../../tasks/task-model';
import type { TensorOutput } from '../../tasks/tensors';
import { serviceOfTask } from '../presets';

/** Report on a model and its load. */
export interface ModelReport {
  /** Service for the model, or the name of its task. */
  readonly service: string;
  /** Name of the folder or file. */
  readonly name: string;
  /** `torchscript`, `exported`, or `model_type` of config.json for a model without a program. */
  readonly kind: string;
  /** Files of the model with their sizes in bytes, sorted by name. */
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  /** Labels of the outputs, in order. */
  readonly labels: readonly string[];
  /** Outputs in the Open Inference Protocol. */
  readonly outputs: readonly TensorOutput[];
  /** Inputs, outputs and operators of the program; null: the model consists of weights. */
  readonly program: ProgramReport | null;
  /** Properties of the loaded model; null: load error. */
  readonly loaded: Pick<ModelDescription, 'maxLength' | 'numOutputs' | 'batching'> | null;
  /** Warnings that a service logs at start. */
  readonly warnings: readonly string[];
  /** Load error; null: the model can be served. */
  readonly problem: string | null;
}

/**
 * Reads a model folder or file and loads the model as a service does.
 *
 * @throws ModelFileError or EngineError: the files cannot be read
 */
export async function inspectModel(
  path: string,
  scheduling: SchedulingOptions,
): Promise<ModelReport> {
  const [task, modelPath] = locate(path);
  const read = readModel(task, modelPath, scheduling);
  const refused = read.program?.operators.filter(({ problem }) => problem) ?? [];
  if (refused.length > 0) {
    const names = refused.map(({ name, problem }) => `${name} ${problem}`);
    return { ...read, problem: `it uses operators that are not allowed: ${names.join('; ')}` };
  }
  try {
    const model = await TaskModel.load(task, modelPath, scheduling);
    const { maxLength, numOutputs, batching } = model.monitor.description;
    const { warnings } = model;
    await model.close();
    return { ...read, loaded: { maxLength, numOutputs, batching }, warnings };
  } catch (error) {
    return { ...read, problem: (error as Error).message };
  }
}

/** Finds the task and the model path of a folder or file. */
function locate(path: string): readonly [Task, string] {
  const found = TASKS.flatMap((task) => {
    const modelPath = task.resolveModelPath(path);
    return modelPath === null ? [] : [[task, modelPath] as const];
  });
  const [chosen] = declaredFirst(found);
  if (chosen) return chosen;
  throw new Error(`${path}: is not a model for ${TASKS.map(({ name }) => name).join(' or ')}`);
}

/** Reads the properties that need no load. */
function readModel(
  task: Task,
  modelPath: string,
  { allowedOperators }: SchedulingOptions,
): ModelReport {
  const { source, metadata } = task.read(modelPath);
  const isProgram = 'path' in source;
  const program = isProgram ? inspectProgram(source.path, allowedOperators ?? []) : null;
  const adapter = 'adapter' in source && source.adapter ? [source.adapter.weightFile] : [];
  const files = isProgram ? [source.path] : [...source.weightFiles, ...adapter];
  return {
    service: serviceOfTask(task) ?? task.name,
    name: basename(modelPath),
    kind: program?.kind ?? (isProgram ? '' : source.modelType),
    files: files.map((file) => ({ name: basename(file), bytes: statSync(file).size })),
    labels: labelsOf(metadata),
    outputs: task.tensors.outputs(metadata),
    program,
    loaded: null,
    warnings: [],
    problem: null,
  };
}

/** Labels of a classifier; empty: the model has no labels of its own. */
function labelsOf(
  metadata: ModelMetadata & { readonly labels?: readonly string[] },
): readonly string[] {
  return metadata.labels ?? [];
}
