/** The command line of `libtorch-serve`: which command runs. */
import { type Config, readConfig } from './config';
import type { Environment } from './environment';

/** Batch inference commands. */
const BATCH_COMMANDS = ['classify', 'decide', 'embed', 'encode', 'rerank', 'tag'] as const;
export type BatchCommandName = (typeof BATCH_COMMANDS)[number];

/** A command. Commands with `args` parse their own flags. */
export type Command =
  | { readonly type: 'version' }
  /** `isComplete`: with all settings. */
  | { readonly type: 'help'; readonly isComplete: boolean }
  /** `build` compiles the addon; `install` downloads LibTorch for the prebuilt addon. */
  | { readonly type: 'build' | 'install' }
  | { readonly type: 'batch'; readonly name: BatchCommandName; readonly args: readonly string[] }
  | {
      readonly type: 'inspect' | 'calibrate' | 'import-torchserve';
      readonly args: readonly string[];
    }
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
  if (first === 'inspect' || first === 'calibrate' || first === 'import-torchserve')
    return { type: first, args: args.slice(1) };
  if (isHelpRequested(args)) return { type: 'help', isComplete: args.includes('all') };
  if (args.includes('--version') || args.includes('-v')) return { type: 'version' };
  if (args.length === 1 && (first === 'build' || first === 'install')) return { type: first };
  return { type: 'serve', config: readConfig(args, environment) };
}

export function isHelpRequested(args: readonly string[]): boolean {
  return args.includes('--help') || args.includes('-h');
}
