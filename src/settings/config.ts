/** The only reader of the environment's variables and of the command line. */
import type { Environment } from './environment';
import { readTracingSettings, type TracingSettings } from './otel-settings';
import {
  type RawSettings,
  SETTINGS,
  type Setting,
  type SettingName,
  type SettingValues,
} from './settings';
import { lintSettings, validateSettings } from './validate-settings';

/** Of one model each. */
export const SERVICES = ['sentiment', 'eeg'] as const;
export type ServiceName = (typeof SERVICES)[number];
/** Of all models of a directory. */
const MODELS = 'models';

/** The settings, MAX_BATCH_TOKENS as `scheduling.maxBatchTokens`, and what follows from them. */
export interface Config extends ValuesOf<null> {
  readonly service: ServiceName | typeof MODELS;
  readonly scheduling: ValuesOf<'scheduling'>;
  /** Who may ask. */
  readonly access: ValuesOf<'access'>;
  /** Null: no spans are exported. */
  readonly tracing: TracingSettings | null;
  /** What is allowed but hardly meant. */
  readonly warnings: readonly string[];
}

/** Those whose rows name this group; null: those that name none. */
type ValuesOf<Group> = {
  readonly [Name in SettingName as (typeof SETTINGS)[Name]['group'] extends Group
    ? CamelCase<Name>
    : never]: SettingValues[Name];
};
/** MAX_BATCH_TOKENS → maxBatchTokens */
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

/** Of commands over files. */
const BATCH_COMMANDS = ['classify', 'embed', 'rerank', 'tag'] as const;
export type BatchCommandName = (typeof BATCH_COMMANDS)[number];

export type Command =
  | { readonly type: 'help' }
  /** The native part, from its sources. */
  | { readonly type: 'build' }
  /** LibTorch, for the prebuilt native part. */
  | { readonly type: 'install' }
  | { readonly type: 'version' }
  /** Files without HTTP; it reads its own flags. */
  | { readonly type: 'files'; readonly name: BatchCommandName; readonly args: readonly string[] }
  /** What a model is, without serving it; it reads its own flags. */
  | { readonly type: 'inspect'; readonly args: readonly string[] }
  /** Settings of TorchServe as ours; it reads its own flags. */
  | { readonly type: 'import-torchserve'; readonly args: readonly string[] }
  | { readonly type: 'serve'; readonly config: Config };

/** Everything that is wrong with the settings, one line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/**
 * Reads the command line (without node and the script) and the environment's variables; a flag wins
 * over a variable, and an empty variable counts as not set.
 *
 * @throws ConfigError
 */
export function readCommand(args: readonly string[], environment: Environment): Command {
  const [first] = args;
  const overFiles = BATCH_COMMANDS.find((name) => name === first);
  if (overFiles) return { type: 'files', name: overFiles, args: args.slice(1) };
  if (first === 'inspect' || first === 'import-torchserve')
    return { type: first, args: args.slice(1) };
  if (args.includes('--help') || args.includes('-h')) return { type: 'help' };
  if (args.includes('--version') || args.includes('-v')) return { type: 'version' };
  if (args.length === 1 && (first === 'build' || first === 'install')) return { type: first };
  return { type: 'serve', config: readConfig(args, environment) };
}

/**
 * The configuration alone, of a command line that begins with a service.
 *
 * @throws ConfigError
 */
export function readConfig(args: readonly string[], environment: Environment): Config {
  const problems: string[] = [];
  const raw = readVariables(environment);
  const apiKeyOfVariable = raw.get('API_KEY');
  const positionals = readFlags(args, raw, problems);
  const service = ([...SERVICES, MODELS] as const).find((name) => name === positionals[0]);
  const [, directory] = positionals;
  if (service === MODELS && directory !== undefined) raw.set('MODELS_DIR', directory);
  if (service === undefined || positionals.length > (service === MODELS ? 2 : 1)) {
    const received = positionals.length === 0 ? 'nothing' : positionals.join(' ');
    const expected = `one service, ${SERVICES.join(' or ')}, or ${MODELS} and a directory`;
    problems.unshift(`expected ${expected}, received ${received}`);
  } else if (service === MODELS && !raw.has('MODELS_DIR')) {
    problems.unshift('MODELS_DIR: is needed by models, as a setting or as the word after it');
  }
  const values = readValues(raw, environment, problems);
  problems.push(...validateSettings(values));
  if (service === undefined || problems.length > 0) throw new ConfigError(problems);

  const warnings = lintSettings(values, environment);
  const tracing = readTracingSettings(environment.variables, (warning) => warnings.push(warning));
  if (raw.get('API_KEY') !== apiKeyOfVariable) {
    warnings.push('API_KEY: as a flag, everyone on this machine can read it');
  }
  const [scheduling, access] = [valuesOf(values, 'scheduling'), valuesOf(values, 'access')];
  return { ...valuesOf(values, null), service, scheduling, access, tracing, warnings };
}

/**
 * The configuration of a service whose settings are values by their names in `Config`; undefined ones
 * have their defaults.
 *
 * @throws ConfigError
 */
export function configFromOptions(
  service: ServiceName,
  given: Readonly<Record<string, unknown>>,
  environment: Environment,
): Config {
  const variables = Object.keys(SETTINGS).flatMap((name) => {
    const value = given[camelCase(name)];
    return value === undefined ? [] : [[name, String(value)]];
  });
  return readConfig([service], { ...environment, variables: Object.fromEntries(variables) });
}

/** The text of `--help`. */
export function helpText(): string {
  const rows = Object.entries<Setting>(SETTINGS).map(([name, setting]) => {
    const shown = setting.shownDefault ?? String(setting.default);
    return `  ${flagOf(name).padEnd(26)}${setting.help} (default: ${shown})`;
  });
  return [
    `Usage: libtorch-serve ${SERVICES.join('|')} [--setting value ...]`,
    '       libtorch-serve models DIRECTORY [--setting value ...]  all models of a directory',
    '       libtorch-serve classify|embed|rerank|tag  files instead of HTTP: embed --help',
    '       libtorch-serve inspect   what a model takes and gives: libtorch-serve inspect --help',
    '       libtorch-serve import-torchserve  config.properties as settings: import-torchserve --help',
    '       libtorch-serve install   fetches LibTorch now, not at the first start',
    '       libtorch-serve build     compiles the native part, where there is no prebuilt one',
    '',
    'Each setting can also be an environment variable: --max-batch-tokens is MAX_BATCH_TOKENS.',
    '',
    ...rows,
    `  ${'--help, -h'.padEnd(26)}this text`,
    `  ${'--version, -v'.padEnd(26)}the version`,
    '',
  ].join('\n');
}

function readVariables({ variables }: Environment): Map<string, string> {
  const raw = new Map<string, string>();
  for (const [name, { rejectsEmpty }] of Object.entries<Setting>(SETTINGS)) {
    const text = variables[name]?.trim();
    if (text || (text === '' && rejectsEmpty)) raw.set(name, text);
  }
  return raw;
}

/**
 * Puts `--name value` and `--name=value` into `raw`. Not `util.parseArgs`: it ends at the first flag that
 * is wrong, or else takes `--workers=1` for the value of `--port --workers=1`.
 *
 * @returns the words that are no flags
 */
function readFlags(
  args: readonly string[],
  raw: Map<string, string>,
  problems: string[],
): readonly string[] {
  const positionals: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const [, written, inline] = /^--?([^=]+)(?:=(.*))?$/s.exec(args[i] as string) ?? [];
    if (written === undefined) {
      positionals.push(args[i] as string);
      continue;
    }
    const name = written.replaceAll('-', '_').toUpperCase();
    const value = inline ?? args[i + 1];
    const takesNext = inline === undefined && value !== undefined && !value.startsWith('--');
    if (takesNext) i++;
    if (!Object.hasOwn(SETTINGS, name)) problems.push(`--${written}: unknown setting; see --help`);
    else if (inline === undefined && !takesNext) problems.push(`${flagOf(name)}: needs a value`);
    else raw.set(name, (value as string).trim());
  }
  return positionals;
}

function readValues(raw: RawSettings, environment: Environment, problems: string[]): SettingValues {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting>(SETTINGS)) {
    const fallback = setting.default;
    const text =
      raw.get(name) ?? (typeof fallback === 'string' ? fallback : fallback(environment, raw));
    try {
      values[name] = setting.parse(text, environment);
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`);
    }
    if (setting.rejectsEmpty && raw.get(name) === '') {
      problems.push(`${name}: is empty: give it a value, or do not set it`);
    }
  }
  return values as SettingValues;
}

function valuesOf<Group extends Setting['group']>(
  values: SettingValues,
  group: Group,
): ValuesOf<Group> {
  const entries = Object.entries<Setting>(SETTINGS)
    .filter(([, setting]) => setting.group === group)
    .map(([name]) => [camelCase(name), values[name as SettingName]]);
  return Object.fromEntries(entries) as ValuesOf<Group>;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_./g, ([, letter = '']) => letter.toUpperCase());
}

function flagOf(name: string): string {
  return `--${name.toLowerCase().replaceAll('_', '-')}`;
}
