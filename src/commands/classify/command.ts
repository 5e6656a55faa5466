import { constants } from 'node:os';
import { ModelFileError } from '../../models/files';
import { EngineError } from '../../native/engine';
import { packageVersion } from '../../package-version';
import { ConfigError, readConfig } from '../../settings/config';
import type { Environment } from '../../settings/environment';
import { describeProcessorProblem } from '../serve/processor-problem';
import { RunError, StuckError, UsageError } from './errors';
import { classifyHelp } from './flags';
import { type CommandLine, readOptions } from './options';
import { ProgressDisplay } from './progress';
import { classifyFiles, forgetRun } from './run';
import { describeSummary } from './summary';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
const EXIT_STUCK = 3;
const EXIT_REJECTED = 4;

/** How a model that cannot be loaded says so. */
const LOAD_ERRORS = [EngineError, ModelFileError];

/**
 * `libtorch-serve classify`.
 *
 * @param args after `classify`
 * @returns the exit code
 */
export async function runClassify(
  args: readonly string[],
  environment: Environment,
): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(classifyHelp());
    return 0;
  }
  stopAtSignals();
  try {
    return await run(readOptions(args), environment);
  } catch (error) {
    const lines = error instanceof ConfigError ? error.lines : [(error as Error).message];
    for (const line of lines) say(line);
    return exitCodeOf(error as Error);
  } finally {
    // A pipe that nobody reads any more would keep the process alive.
    process.stdin.destroy();
  }
}

async function run({ options, settings }: CommandLine, environment: Environment): Promise<number> {
  const config = readConfig(settings, environment);
  const problem = describeProcessorProblem(config);
  if (problem) throw new UsageError(problem);
  config.warnings.forEach(say);
  const progress = new ProgressDisplay();
  try {
    const version = packageVersion(environment.packageRoot);
    const summary = await classifyFiles(config, options, { progress, warn: say }, version);
    progress.stop();
    process.stderr.write(describeSummary(summary));
    await forgetRun(options);
    return summary.rejected > 0 ? EXIT_REJECTED : 0;
  } finally {
    progress.stop();
  }
}

/** What is committed is whole at any moment, so there is nothing to wait for. */
function stopAtSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      say(`stopped (${signal}); the same command with --resume goes on`);
      process.exit(128 + constants.signals[signal]);
    });
  }
}

function exitCodeOf(error: Error): number {
  if (error instanceof UsageError || error instanceof ConfigError) return EXIT_USAGE;
  if (error instanceof StuckError) return EXIT_STUCK;
  const isExpected = error instanceof RunError || LOAD_ERRORS.some((one) => error instanceof one);
  const isOfSystem = (error as NodeJS.ErrnoException).code !== undefined;
  if (!isExpected && !isOfSystem) process.stderr.write(`${error.stack}\n`);
  return EXIT_FAILURE;
}

function say(line: string): void {
  process.stderr.write(`libtorch-serve: ${line}\n`);
}
