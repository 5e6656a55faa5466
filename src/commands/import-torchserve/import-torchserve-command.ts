import {
  constants,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { printable } from '../../lib/printable';
import { MODEL_JSON } from '../../repository/model-json';
import type { Environment } from '../../settings/environment';
import { EXIT_FAILURE, EXIT_USAGE } from '../exit';
import { type ImportedKeys, translateKeys } from './keys';
import { parseProperties } from './properties';
import { type Translation, translate } from './translate';

const MODELS = 'models';
const ENV_FILE = 'libtorch-serve.env';
const DEFAULT_OUTPUT = 'torchserve-import';

const KEYS_FILE = 'api-keys';

export const HELP = `Usage: libtorch-serve import-torchserve config.properties [--output DIR] [--keys FILE]

Converts TorchServe's config.properties to settings of libtorch-serve models: an env file and a
model repository with the archives of the model store. Lists each unsupported key with the reason.
Existing files are not overwritten.

  --output DIR              output folder (default: ${DEFAULT_OUTPUT})
  --keys FILE               key_file.json of TorchServe, converted to API_KEYS_FILE
  --help, -h                this text

Exit codes: 0 success, 1 failure, 2 invalid command line.
`;

/** Runs `libtorch-serve import-torchserve`. @param args arguments after the command name @returns exit code */
export function runImportTorchserve(args: readonly string[], environment: Environment): number {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(HELP);
    return 0;
  }
  const read = readArguments(args);
  if (read === null) {
    return fail(
      ['expected config.properties [--output DIR] [--keys FILE]; see import-torchserve --help'],
      EXIT_USAGE,
    );
  }
  try {
    const properties = parseProperties(readFileSync(read.file, 'utf8'));
    const translated = translate(properties, environment, archivesOf);
    if (translated.problems.length > 0) return fail(translated.problems, EXIT_FAILURE);
    const output = path.resolve(environment.workingDirectory, read.output);
    const keys = read.keys === null ? null : translateKeys(readFileSync(read.keys, 'utf8'));
    const translation = keys ? withKeys(translated, keys, output) : translated;
    write(translation, output);
    if (keys) writeFileSync(path.join(output, KEYS_FILE), keys.text, { flag: 'wx', mode: 0o600 });
    process.stdout.write(`${describe(translation, read.output).map(shown).join('\n')}\n`);
    return 0;
  } catch (error) {
    return fail([(error as Error).message], EXIT_FAILURE);
  }
}

/** @returns null: invalid command line */
function readArguments(args: readonly string[]): Arguments | null {
  const options = { output: { type: 'string' }, keys: { type: 'string' } } as const;
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
    });
    const { output = DEFAULT_OUTPUT, keys } = values;
    const [file] = positionals;
    if (!file || positionals.length > 1 || output === '' || keys === '') return null;
    return { file, output, keys: keys ?? null };
  } catch {
    return null;
  }
}

interface Arguments {
  readonly file: string;
  readonly output: string;
  /** Path of key_file.json; null: keys are not imported. */
  readonly keys: string | null;
}

function withKeys(translation: Translation, { notes }: ImportedKeys, output: string): Translation {
  const { settings } = translation;
  return {
    ...translation,
    settings: new Map([...settings, ['API_KEYS_FILE', path.join(output, KEYS_FILE)]]),
    notes: [...translation.notes, ...notes],
  };
}

function archivesOf(modelStore: string): readonly string[] {
  return readdirSync(modelStore)
    .filter((name) => name.endsWith('.mar'))
    .sort();
}

function write({ settings, models, modelStore }: Translation, output: string): void {
  const directory = path.join(output, MODELS);
  mkdirSync(output, { recursive: true });
  const lines = [['MODELS_DIR', directory] as const, ...settings].map(
    ([name, value]) => `${name}=${value}\n`,
  );
  writeFileSync(path.join(output, ENV_FILE), lines.join(''), { flag: 'wx' });
  mkdirSync(directory, { recursive: true });
  for (const { name, archives, settings: own } of models) {
    for (const { archive, folder } of archives) {
      const target = path.join(directory, folder);
      mkdirSync(target, { recursive: true });
      const mode = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
      copyFileSync(path.join(modelStore as string, archive), path.join(target, archive), mode);
    }
    const json = `${JSON.stringify(own, null, 2)}\n`;
    writeFileSync(path.join(directory, name, MODEL_JSON), json, { flag: 'wx' });
  }
}

function describe({ settings, models, notes }: Translation, output: string): readonly string[] {
  const names = models.map(({ name }) => name).join(', ') || 'none';
  return [
    `${path.join(output, ENV_FILE)}: ${['MODELS_DIR', ...settings.keys()].join(', ')}`,
    `${path.join(output, MODELS)}: ${names}`,
    ...(notes.length > 0 ? ['Not imported, or changed:', ...notes.map((note) => `  ${note}`)] : []),
  ];
}

function shown(line: string): string {
  return printable(line, line.length);
}

function fail(lines: readonly string[], exitCode: number): number {
  for (const line of lines) {
    process.stderr.write(`libtorch-serve import-torchserve: ${printable(line)}\n`);
  }
  return exitCode;
}
