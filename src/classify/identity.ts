import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config';
import { settingsPath } from '../eeg/model-settings';
import { UsageError } from './errors';
import type { Input } from './inputs/expand';
import type { Header } from './journal';
import type { Layout } from './layout';
import type { Options } from './options';

/** What the bytes of the output depend on. */
export function identityOf(
  config: Config,
  options: Options,
  inputs: readonly Input[],
): Omit<Header, 'columns'> {
  const { inputs: _written, resume, overwrite, summary, ...rest } = options;
  const { dtype } = config.scheduling;
  return {
    version: 1,
    options: { ...rest, ...(options.service === 'sentiment' && { dtype }) },
    model: describeModel(config),
    inputs: inputs.map(({ path: place, size, modified }) => ({
      path: place ?? '-',
      size,
      modified,
    })),
  };
}

export function headerOf(identity: Omit<Header, 'columns'>, layout: Layout): Header {
  return { ...identity, columns: layout.kept && [...layout.kept] };
}

/**
 * @param before what the run that was ended began with
 * @throws UsageError that names what has changed since
 */
export function requireSameRun(
  before: Omit<Header, 'columns'>,
  now: Omit<Header, 'columns'>,
): void {
  const fail = (problem: string): never => {
    throw new UsageError(`--resume: ${problem}: --overwrite begins anew`);
  };
  for (const [name, value] of Object.entries(now.options)) {
    const [was, is] = [JSON.stringify(before.options[name]), JSON.stringify(value)];
    if (was !== is) fail(`the run began with ${name} ${was}, not ${is}`);
  }
  const changedModel = changedOf(before.model, now.model);
  if (changedModel !== null) fail(`${changedModel}: the model has changed since the run began`);
  for (const [index, { path: place, size, modified }] of before.inputs.entries()) {
    const input = now.inputs[index];
    if (input?.path !== place) fail(`${place}: was input ${index + 1} of the run, and is not now`);
    if (input?.size !== size || input.modified !== modified) {
      fail(`${place}: has changed since the run began`);
    }
  }
  const added = now.inputs[before.inputs.length];
  if (added) fail(`${added.path}: was no input of the run`);
}

function changedOf(before: Header['model'], now: Header['model']): string | null {
  const all = new Set([...before, ...now].map(({ name }) => name));
  const find = (files: Header['model'], name: string): string =>
    JSON.stringify(files.find((file) => file.name === name) ?? null);
  return [...all].find((name) => find(before, name) !== find(now, name)) ?? null;
}

function describeModel({ service, sentimentModelDir, eegModelPath }: Config): Header['model'] {
  const files =
    service === 'eeg' ? [eegModelPath, settingsPath(eegModelPath)] : filesOf(sentimentModelDir);
  return files.flatMap((name) => {
    const stat = statSync(name, { bigint: true, throwIfNoEntry: false });
    if (!stat?.isFile()) return [];
    return { name, size: Number(stat.size), modified: String(stat.mtimeNs) };
  });
}

/** A folder that cannot be read is told of by who loads the model. */
function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => path.join(folder, name));
  } catch {
    return [];
  }
}
