import { constants } from 'node:os';
import { debuglog } from 'node:util';
import { RunError, UsageError } from '../../files/file-errors';
import { ProgressDisplay } from '../../files/progress';
import { packageVersion } from '../../lib/package-version';
import { ModelFileError } from '../../models/files';
import { EngineError } from '../../native/engine';
import { RecordingError } from '../../recordings/recording';
import { type Config, ConfigError, readConfig } from '../../settings/config';
import type { Environment } from '../../settings/environment';
import { EXIT_FAILURE, EXIT_HUNG_MODEL, EXIT_REJECTED_ROWS, EXIT_USAGE, printError } from '../exit';
import { findProcessorProblem } from '../processor-check';
import { HungModelError } from './dispatcher';
import type { BatchJob } from './job';
import { removeJournal, runBatchJob } from './run-job';
import { describeSummary } from './summary';

const EXIT_CODES = [
  [0, 'all rows have an answer'],
  [EXIT_FAILURE, 'it could not go on: --resume does, once the cause is gone'],
  [EXIT_USAGE, 'a flag, a setting or a file that was named is wrong'],
  [EXIT_HUNG_MODEL, 'the model did not come back from a batch'],
  [EXIT_REJECTED_ROWS, 'done, but some rows have no answer: see the rejects file'],
] as const;

const debug = debuglog('libtorch-serve');

/** What tells a person enough without its stack. */
const EXPECTED = [RunError, RecordingError, EngineError, ModelFileError, HungModelError];

/** A command over files. */
export interface BatchCommand {
  /** The text of `--help`, but for the exit codes at its end. */
  readonly help: readonly string[];
  /**
   * @param args behind the command's name
   * @returns settings as the services take them, and what makes a job of what they mean
   * @throws UsageError
   */
  read(args: readonly string[]): {
    readonly settings: readonly string[];
    readonly toJob: (config: Config) => Omit<BatchJob, 'version' | 'stuckAfterMs'>;
  };
}

/** Runs a command over files; returns the exit code. */
export async function runBatchCommand(
  command: BatchCommand,
  args: readonly string[],
  environment: Environment,
): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(helpText(command));
    return 0;
  }
  stopAtSignals();
  try {
    const job = readJob(command, args, environment);
    const progress = new ProgressDisplay();
    const summary = await runBatchJob(job, progress).finally(() => progress.stop());
    process.stderr.write(describeSummary(summary));
    await removeJournal(job.options);
    return summary.rejected > 0 ? EXIT_REJECTED_ROWS : 0;
  } catch (error) {
    return reportError(error as Error);
  } finally {
    // A pipe that nobody reads any more would keep the process alive.
    process.stdin.destroy();
  }
}

/** The text of `--help`. */
export function helpText({ help }: BatchCommand): string {
  const codes = EXIT_CODES.map(([code, meaning]) => `  ${code}  ${meaning}`);
  return [...help, '', 'Exit codes:', ...codes, ''].join('\n');
}

function readJob(
  command: BatchCommand,
  args: readonly string[],
  environment: Environment,
): BatchJob {
  const { settings, toJob } = command.read(args);
  const config = readBatchConfig(settings, environment);
  const version = packageVersion(environment.packageRoot);
  return { ...toJob(config), version, stuckAfterMs: stuckAfterMs(config) };
}

/** @throws ConfigError, UsageError */
export function readBatchConfig(settings: readonly string[], environment: Environment): Config {
  const config = readConfig(settings, environment);
  const problem = findProcessorProblem(config);
  if (problem) throw new UsageError(problem);
  config.warnings.forEach(printError);
  return config;
}

/** A batch that comes back at all has come back by then. */
export function stuckAfterMs({ scheduling, inferenceGraceMs }: Config): number {
  return scheduling.maxQueueDelayMs + scheduling.inferenceTimeoutMs + inferenceGraceMs;
}

/** What is committed is whole at any moment, so there is nothing to wait for. */
function stopAtSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      printError(`stopped (${signal}); the same command with --resume goes on`);
      process.exit(128 + constants.signals[signal]);
    });
  }
}

/** Why a command could not do what it was asked for; returns the exit code. */
export function reportError(error: Error): number {
  const code = exitCodeOf(error);
  if (code !== EXIT_FAILURE || isExpected(error)) {
    for (const line of error instanceof ConfigError ? error.lines : [error.message])
      printError(line);
  } else {
    printError(
      `unexpected error: ${error.message}. Report it with the output of NODE_DEBUG=libtorch-serve`,
    );
    debug('%s', error.stack);
  }
  return code;
}

function isExpected(error: Error): boolean {
  const isOfSystem = (error as NodeJS.ErrnoException).code !== undefined;
  return isOfSystem || EXPECTED.some((one) => error instanceof one);
}

function exitCodeOf(error: Error): number {
  if (error instanceof UsageError || error instanceof ConfigError) return EXIT_USAGE;
  if (error instanceof HungModelError) return EXIT_HUNG_MODEL;
  return EXIT_FAILURE;
}
