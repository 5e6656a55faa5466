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
  [0, 'all rows have a result'],
  [EXIT_FAILURE, 'failed. Fix the cause, then continue with --resume'],
  [EXIT_USAGE, 'invalid flag, setting or input path'],
  [EXIT_HUNG_MODEL, 'hung model'],
  [EXIT_REJECTED_ROWS, 'complete, with rejected rows (see the rejects file)'],
] as const;

const debug = debuglog('libtorch-serve');

/** Errors whose message needs no stack. */
const EXPECTED = [RunError, RecordingError, EngineError, ModelFileError, HungModelError];

/** A command that runs a model on files. */
export interface BatchCommand {
  /** Text of `--help` without the exit codes. */
  readonly help: readonly string[];
  /**
   * @param args arguments after the command name
   * @returns settings of the services, as flags, and a function that creates the job
   * @throws UsageError
   */
  read(args: readonly string[]): {
    readonly settings: readonly string[];
    readonly toJob: (config: Config) => Omit<BatchJob, 'version' | 'stuckAfterMs'>;
  };
}

/** Runs a command on files. @returns exit code */
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
    // An open pipe would keep the process running.
    process.stdin.destroy();
  }
}

/** Text of `--help`. */
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

/** Time without a finished batch after which a model is hung, in ms. */
export function stuckAfterMs({ scheduling, inferenceGraceMs }: Config): number {
  return scheduling.maxQueueDelayMs + scheduling.inferenceTimeoutMs + inferenceGraceMs;
}

/** Exits at once: the committed output is complete at any moment. */
function stopAtSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      printError(`stopped (${signal}). Continue with --resume`);
      process.exit(128 + constants.signals[signal]);
    });
  }
}

/** Prints the error of a command. @returns exit code */
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
  const isSystemError = (error as NodeJS.ErrnoException).code !== undefined;
  return isSystemError || EXPECTED.some((type) => error instanceof type);
}

function exitCodeOf(error: Error): number {
  if (error instanceof UsageError || error instanceof ConfigError) return EXIT_USAGE;
  if (error instanceof HungModelError) return EXIT_HUNG_MODEL;
  return EXIT_FAILURE;
}
