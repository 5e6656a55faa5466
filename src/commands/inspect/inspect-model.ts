import { statSync } from 'node:fs';
import path from 'node:path';
import {
  inspectProgram,
  type ModelDescription,
  type OperatorReport,
  type ProgramReport,
  type SchedulingOptions,
} from '../../native/engine';
import { EegClassifier } from '../../tasks/signal-classification/eeg-classifier';
import { readModelSettings } from '../../tasks/signal-classification/model-settings';
import { readModelDirectory } from '../../tasks/text-classification/model-directory';
import { TextClassifier } from '../../tasks/text-classification/text-classifier';

/** What a model is, and what became of loading it. */
export interface ModelReport {
  readonly service: 'sentiment' | 'eeg';
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

/** What is read before anything is loaded. */
type Read = Pick<ModelReport, 'service' | 'name' | 'kind' | 'files' | 'labels' | 'program'>;

/**
 * Looks at a model folder, or the file of one, then loads it as a service would.
 *
 * @throws ModelDirectoryError, ModelSettingsError or EngineError for what cannot even be read
 */
export async function inspectModel(
  place: string,
  scheduling: SchedulingOptions,
): Promise<ModelReport> {
  const directory = textDirectoryOf(place);
  const read = directory
    ? readTexts(directory, scheduling)
    : readSignals(path.resolve(place), scheduling);
  const unread = { loaded: null, warnings: [] };
  const refused = read.program?.operators.filter(({ problem }) => problem) ?? [];
  if (refused.length > 0) return { ...read, ...unread, problem: describeRefused(refused) };
  try {
    const model = directory
      ? await TextClassifier.load(directory, scheduling)
      : await EegClassifier.load(path.resolve(place), scheduling);
    const { maxLength, numOutputs, batching } = model.monitor.description;
    const { warnings } = model;
    await model.close();
    return { ...read, loaded: { maxLength, numOutputs, batching }, warnings, problem: null };
  } catch (error) {
    return { ...read, ...unread, problem: (error as Error).message };
  }
}

/** The folder of a text classifier that was named, or that the named file is part of. */
function textDirectoryOf(place: string): string | null {
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory();
  const folder = path.resolve(isFolder ? place : path.dirname(place));
  const hasConfiguration = statSync(path.join(folder, 'config.json'), { throwIfNoEntry: false });
  return isFolder || hasConfiguration ? folder : null;
}

function readTexts(directory: string, scheduling: SchedulingOptions): Read {
  const { source, labels } = readModelDirectory(directory);
  const isProgram = source.type === 'text-program';
  const files = isProgram ? [source.path] : source.weightFiles;
  const program = isProgram ? inspect(source.path, scheduling) : null;
  return {
    service: 'sentiment',
    name: path.basename(directory),
    kind: program?.kind ?? (source.type === 'text-classification' ? source.modelType : ''),
    files: files.map(describeFile),
    labels,
    program,
  };
}

function readSignals(file: string, scheduling: SchedulingOptions): Read {
  const { classes } = readModelSettings(file);
  const program = inspect(file, scheduling);
  return {
    service: 'eeg',
    name: path.basename(file),
    kind: program.kind,
    files: [describeFile(file)],
    labels: classes,
    program,
  };
}

function inspect(file: string, { allowedOperators }: SchedulingOptions): ProgramReport {
  return inspectProgram(file, allowedOperators ?? []);
}

function describeFile(file: string) {
  return { name: path.basename(file), bytes: statSync(file).size };
}

function describeRefused(refused: readonly OperatorReport[]): string {
  const names = refused.map(({ name, problem }) => `${name} ${problem}`);
  return `it uses operators that are refused: ${names.join('; ')}`;
}
