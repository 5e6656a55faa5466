/** Server configuration, from flags and environment variables. */
import type { Environment } from './environment';
import { filePath } from './parsers';
import type { RawSettings } from './setting-defaults';
import { SETTINGS, type Setting, type SettingName, type SettingValues } from './settings';
import { readTracingSettings, type TracingSettings } from './tracing-settings';
import { lintSettings, validateSettings } from './validate-settings';

/** Services with one model. */
export const SERVICES = ['sentiment', 'eeg'] as const;
export type ServiceName = (typeof SERVICES)[number];
/** Service with all models of a model repository. */
export const MODELS = 'models';
/** Command that serves models, model files and model repositories, each given by its path. */
export const SERVE = 'serve';

/** Parsed settings by camel-case name (`scheduling.maxBatchTokens` is MAX_BATCH_TOKENS), and derived values. */
export interface Config extends ValuesOf<null> {
  readonly service: ServiceName | typeof MODELS;
  /** Absolute paths of model repositories, model folders and model files; empty for a service with one model. */
  readonly modelPaths: readonly string[];
  readonly scheduling: ValuesOf<'scheduling'>;
  /** Settings of authentication, TLS and browser access. */
  readonly access: ValuesOf<'access'>;
  /** Null if traces are not exported. */
  readonly tracing: TracingSettings | null;
  /** Messages about settings that are allowed but probably mistakes. */
  readonly warnings: readonly string[];
}

/** Values of all settings of a group. */
type ValuesOf<Group> = {
  readonly [Name in SettingName as (typeof SETTINGS)[Name]['group'] extends Group
    ? CamelCase<Name>
    : never]: SettingValues[Name];
};
/** MAX_BATCH_TOKENS → maxBatchTokens */
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

/** Invalid settings or command line, one message per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/**
 * Reads the configuration of a service. Flags take precedence over environment variables; an empty variable
 * counts as unset.
 *
 * @param args command line that starts with the name of a service
 * @throws ConfigError
 */
export function readConfig(args: readonly string[], environment: Environment): Config {
  const problems: string[] = [];
  const raw = readVariables(environment);
  const apiKeyVariable = raw.get('API_KEY');
  const positionals = readFlags(args, raw, problems);
  const service = readService(positionals, raw, problems);
  const values = parseSettings(raw, environment, problems);
  problems.push(...validateSettings(values));
  if (service === undefined || problems.length > 0) throw new ConfigError(problems);

  const warnings = lintSettings(values, environment);
  if (values.FILES_DIR !== null && service !== MODELS) {
    warnings.push(`FILES_DIR: no effect on ${service}. Use the command ${SERVE} or ${MODELS}`);
  }
  const tracing = readTracingSettings(environment.variables, (warning) => warnings.push(warning));
  if (raw.get('API_KEY') !== apiKeyVariable) {
    warnings.push(
      'API_KEY: a flag is visible to all users of this machine. Use an environment variable',
    );
  }
  return {
    ...groupValues(values, null),
    service,
    modelPaths: service === MODELS ? modelPaths(positionals, values, environment) : [],
    scheduling: groupValues(values, 'scheduling'),
    access: groupValues(values, 'access'),
    tracing,
    warnings,
  };
}

/**
 * Reads the service and the paths from the positional arguments. `models DIRECTORY` sets MODELS_DIR.
 *
 * @param problems gets a message if no service can be started
 */
function readService(
  positionals: readonly string[],
  raw: Map<string, string>,
  problems: string[],
): Config['service'] | undefined {
  const [command, ...paths] = positionals;
  const isSingle = SERVICES.some((name) => name === command);
  const isKnown = isSingle || command === MODELS || command === SERVE;
  if (command === MODELS && paths[0] !== undefined) raw.set('MODELS_DIR', paths[0]);
  if (!isKnown || (isSingle && paths.length > 0) || (command === MODELS && paths.length > 1)) {
    const received = command === undefined ? 'nothing' : positionals.join(' ');
    const expected = `${SERVE} PATH, ${MODELS} DIRECTORY, ${SERVICES.join(' or ')}`;
    problems.unshift(`expected a command, ${expected}, received ${received}`);
    return undefined;
  }
  if (isSingle) return command as ServiceName;
  if (paths.length === 0 && !raw.has('MODELS_DIR')) {
    const remedy = `Set it, or append ${command === SERVE ? 'paths' : 'the directory'} to ${command}`;
    problems.unshift(`MODELS_DIR: required by ${command}. ${remedy}`);
  }
  return MODELS;
}

/** Paths of `serve PATH…`, or MODELS_DIR. */
function modelPaths(
  [command, ...paths]: readonly string[],
  values: SettingValues,
  environment: Environment,
): readonly string[] {
  const isServe = command === SERVE && paths.length > 0;
  return isServe
    ? [...new Set(paths.map((one) => filePath()(one, environment)))]
    : [values.MODELS_DIR as string];
}

/**
 * Creates the configuration of a service from options in camel case.
 *
 * @param options values by property name of `Config`; undefined selects the default
 * @throws ConfigError
 */
export function configFromOptions(
  service: ServiceName,
  options: Readonly<Record<string, unknown>>,
  environment: Environment,
): Config {
  const variables = Object.keys(SETTINGS).flatMap((name) => {
    const value = options[camelCase(name)];
    return value === undefined ? [] : [[name, String(value)]];
  });
  return readConfig([service], { ...environment, variables: Object.fromEntries(variables) });
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
 * Copies the flags `--name value` and `--name=value` into `raw`. `util.parseArgs` is not used: it stops at
 * the first invalid flag, or parses `--workers=1` as the value of `--port --workers=1`.
 *
 * @returns the positional arguments
 */
function readFlags(
  args: readonly string[],
  raw: Map<string, string>,
  problems: string[],
): readonly string[] {
  const positionals: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const [, flag, inline] = /^--?([^=]+)(?:=(.*))?$/s.exec(args[i] as string) ?? [];
    if (flag === undefined) {
      positionals.push(args[i] as string);
      continue;
    }
    const name = flag.replaceAll('-', '_').toUpperCase();
    const value = inline ?? args[i + 1];
    const usesNext = inline === undefined && value !== undefined && !value.startsWith('--');
    if (usesNext) i++;
    if (!Object.hasOwn(SETTINGS, name)) problems.push(`--${flag}: unknown setting; see --help`);
    else if (inline === undefined && !usesNext) problems.push(`${flagOf(name)}: expected a value`);
    else raw.set(name, (value as string).trim());
  }
  return positionals;
}

function parseSettings(
  raw: RawSettings,
  environment: Environment,
  problems: string[],
): SettingValues {
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
      problems.push(`${name}: expected a value, received an empty text. Set a value or unset it`);
    }
  }
  return values as SettingValues;
}

function groupValues<Group extends Setting['group']>(
  values: SettingValues,
  group: Group,
): ValuesOf<Group> {
  const entries = Object.entries<Setting>(SETTINGS)
    .filter(([, setting]) => setting.group === group)
    .map(([name]) => [camelCase(name), values[name as SettingName]]);
  return Object.fromEntries(entries) as ValuesOf<Group>;
}

/** MAX_BATCH_TOKENS → --max-batch-tokens */
export function flagOf(name: string): string {
  return `--${name.toLowerCase().replaceAll('_', '-')}`;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_./g, ([, letter = '']) => letter.toUpperCase());
}
