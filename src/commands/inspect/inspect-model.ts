import { statSync } from 'node:fs';
import path from 'node:path';
import { inspectProgram } from '../../native/addon';
import type { ModelDescription, ProgramReport, SchedulingOptions } from '../../native/engine';
import { declaredFirst, TASKS } from '../../tasks/registry';
import type { Task } from '../../tasks/task';
import { TaskModel } from '../../tasks/task-model';
import { serviceOfTask } from '../presets';

/** What a model is, and what became of loading it. */
export interface ModelReport {
  /** That serves such a model; else the name of its task. */
  readonly service: string;
  /** Of the folder or the file. */
  readonly name: string;
  /** `torchscript`, `exported`, or config.json's `model_type` of weights that our own code runs. */
  readonly kind: string;
  /** The files that hold the model, in the order of their names, and bytes. */
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  /** Names of what it gives, in order. */
  readonly labels: readonly string[];
  /** What its file says; null: weights alone, which say nothing but their names. */
  readonly program: ProgramReport | null;
  /** Of the model that was loaded and tried; null: it cannot be. */
  readonly loaded: Pick<ModelDescription, 'maxLength' | 'numOutputs' | 'batching'> | null;
  /** What a service would log at start. */
  readonly warnings: readonly string[];
  /** Why it cannot be served; null: it can. */
  readonly problem: string | null;
}

/**
 * Looks at a model folder, or the file of one, then loads it as a service would.
 *
 * @throws ModelFileError or EngineError for what cannot even be read
 */
export async function inspectModel(
  named: string,
  scheduling: SchedulingOptions,
): Promise<ModelReport> {
  const [task, place] = locate(named);
  const read = readModel(task, place, scheduling);
  const refused = read.program?.operators.filter(({ problem }) => problem) ?? [];
  if (refused.length > 0) {
    const names = refused.map(({ name, problem }) => `${name} ${problem}`);
    return { ...read, problem: `it uses operators that are refused: ${names.join('; ')}` };
  }
  try {
    const model = await TaskModel.load(task, place, scheduling);
    const { maxLength, numOutputs, batching } = model.monitor.description;
    const { warnings } = model;
    await model.close();
    return { ...read, loaded: { maxLength, numOutputs, batching }, warnings };
  } catch (error) {
    return { ...read, problem: (error as Error).message };
  }
}

/** Whose model it is, and where. */
function locate(named: string): readonly [Task, string] {
  const found = TASKS.flatMap((task) => {
    const place = task.resolveModelPath(named);
    return place === null ? [] : [[task, place] as const];
  });
  const [chosen] = declaredFirst(found);
  if (chosen) return chosen;
  throw new Error(`${named}: is no model of ${TASKS.map(({ name }) => name).join(' or ')}`);
}

/** What is known before anything is loaded. */
function readModel(
  task: Task,
  place: string,
  { allowedOperators }: SchedulingOptions,
): ModelReport {
  const { source, metadata: about } = task.read(place);
  const isProgram = 'path' in source;
  const program = isProgram ? inspectProgram(source.path, allowedOperators ?? []) : null;
  const files = isProgram ? [source.path] : source.weightFiles;
  return {
    service: serviceOfTask(task) ?? task.name,
    name: path.basename(place),
    kind: program?.kind ?? (isProgram ? '' : source.modelType),
    files: files.map((file) => ({ name: path.basename(file), bytes: statSync(file).size })),
    labels: task.tensors.labeledOutput(about)?.labels ?? [],
    program,
    loaded: null,
    warnings: [],
    problem: null,
  };
}
