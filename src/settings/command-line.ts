/** The command line of `libtorch-serve`: which command runs, and the text of `--help`. */
import { type Config, flagOf, MODELS, readConfig, SERVICES } from './config';
import type { Environment } from './environment';
import { SETTINGS, type Setting } from './settings';

/** Batch inference commands. */
const BATCH_COMMANDS = ['classify', 'embed', 'rerank', 'tag'] as const;
export type BatchCommandName = (typeof BATCH_COMMANDS)[number];

/** A command. Commands with `args` parse their own flags. */
export type Command =
  | { readonly type: 'help' | 'version' }
  /** `build` compiles the addon; `install` downloads LibTorch for the prebuilt addon. */
  | { readonly type: 'build' | 'install' }
  | { readonly type: 'batch'; readonly name: BatchCommandName; readonly args: readonly string[] }
  | { readonly type: 'inspect' | 'import-torchserve'; readonly args: readonly string[] }
  | { readonly type: 'serve'; readonly config: Config };

/**
 * Reads the command line.
 *
 * @param args without node and the script
 * @throws ConfigError
 */
export function readCommand(args: readonly string[], environment: Environment): Command {
  const [first] = args;
  const batchCommand = BATCH_COMMANDS.find((name) => name === first);
  if (batchCommand) return { type: 'batch', name: batchCommand, args: args.slice(1) };
  if (first === 'inspect' || first === 'import-torchserve')
    return { type: first, args: args.slice(1) };
  if (isHelpRequested(args)) return { type: 'help' };
  if (args.includes('--version') || args.includes('-v')) return { type: 'version' };
  if (args.length === 1 && (first === 'build' || first === 'install')) return { type: first };
  return { type: 'serve', config: readConfig(args, environment) };
}

export function isHelpRequested(args: readonly string[]): boolean {
  return args.includes('--help') || args.includes('-h');
}

/** Returns the text of `--help`. */
export function helpText(): string {
  const rows = Object.entries<Setting>(SETTINGS).map(
    ([name, { help, shownDefault, ...setting }]) =>
      `  ${flagOf(name).padEnd(26)}${help} (default: ${shownDefault ?? setting.default})`,
  );
  return [
    `Usage: libtorch-serve ${SERVICES.join('|')} [--setting value ...]`,
    `       libtorch-serve ${MODELS} DIRECTORY [--setting value ...]  serve a model repository`,
    `       libtorch-serve ${BATCH_COMMANDS.join('|')}  run batch inference on files: embed --help`,
    '       libtorch-serve inspect   show inputs, outputs and load errors of a model: inspect --help',
    '       libtorch-serve import-torchserve  convert config.properties: import-torchserve --help',
    '       libtorch-serve install   download LibTorch now instead of at the first start',
    '       libtorch-serve build     compile the addon if no prebuilt addon fits',
    '',
    'Each setting is also an environment variable: --max-batch-tokens is MAX_BATCH_TOKENS.',
    '',
    ...rows,
    `  ${'--help, -h'.padEnd(26)}show this text`,
    `  ${'--version, -v'.padEnd(26)}show the version`,
    '',
  ].join('\n');
}
