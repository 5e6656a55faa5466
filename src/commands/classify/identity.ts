import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../../settings/config';
import { PRESETS } from '../presets';
import { UsageError } from './errors';
import { PIPE } from './formats';
import type { Input } from './inputs/expand';
import type { Header } from './journal';
import type { Layout } from './layout';
import type { Options } from './options';

/** What a run has in common with one that goes on with it. */
export type Identity = Omit<Header, 'columns'>;

const BLOCK_BYTES = 1024 * 1024;

export interface Identified {
  readonly config: Config;
  readonly options: Options;
  readonly inputs: readonly Input[];
  /** Of this package. */
  readonly version: string;
}

/**
 * What the bytes of the output depend on. Files of the model are read as a whole, for their hashes.
 *
 * @throws ModelFileError
 */
export async function identityOf({ config, options, inputs, version }: Identified) {
  const { inputs: _written, resume, overwrite, summary, ...rest } = options;
  const { instructions, scheduling } = config;
  const { dtype, products } = scheduling;
  return {
    version,
    options: { ...rest, instructions, ...(options.service === 'sentiment' && { dtype, products }) },
    // What goes into a pipe cannot be continued.
    model: options.output === PIPE ? [] : await hashesOf(filesOf(config)),
    inputs: inputs.map(({ path: place, size, modified }) => ({
      path: place ?? PIPE,
      size,
      modified,
    })),
  } satisfies Identity;
}

export function headerOf(identity: Identity, layout: Layout): Header {
  return { ...identity, columns: layout.kept && [...layout.kept] };
}

/**
 * @param before what the run that was ended began with
 * @throws UsageError that names what has changed since
 */
export function requireSameRun(before: Identity, now: Identity): void {
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

/** The name of a file that is another one, missing or new; null: there is none. */
function changedOf(before: Header['model'], now: Header['model']): string | null {
  const all = new Set([...before, ...now].map(({ name }) => name));
  const find = (files: Header['model'], name: string): string | undefined =>
    files.find((file) => file.name === name)?.sha256;
  return [...all].find((name) => find(before, name) !== find(now, name)) ?? null;
}

/** That the model is loaded from. One that is not there is told of by who loads the model. */
function filesOf(config: Config): readonly string[] {
  const { task, placeOf } = PRESETS[config.service];
  return task.filesOf(placeOf(config));
}

function hashesOf(files: readonly string[]): Promise<Header['model']> {
  return Promise.all(
    files.map(async (file) => {
      const hash = createHash('sha256');
      await pipeline(createReadStream(file, { highWaterMark: BLOCK_BYTES }), hash);
      return { name: path.basename(file), sha256: hash.digest('hex') };
    }),
  );
}
