import { printable } from '../../lib/printable';
import { limitInstructions } from '../../native/addon';
import type { SchedulingOptions } from '../../native/engine';
import { ConfigError, readConfig } from '../../settings/config';
import type { Environment } from '../../settings/environment';
import { EXIT_FAILURE, EXIT_USAGE } from '../exit';
import { describeArchive, describeReport } from './format-report';
import { type InspectedArchive, inspectArchive } from './inspect-archive';
import { inspectModel, type ModelReport } from './inspect-model';

export const HELP = `Usage: libtorch-serve inspect PATH [--json] [--setting value ...]

Reports a model's inputs, outputs, size, operators, batching and load error. PATH is a model folder
or a file: TorchScript (.pt), torch.export (.pt2) or a TorchServe archive (.mar). The model is loaded
and checked as by a server; settings such as --allowed-operators and --dtype apply.

  --json                    full report as JSON
  --help, -h                this text

Exit codes: 0 the model can be served, 1 load error, 2 invalid command line.
`;

/** Runs `libtorch-serve inspect`. @param args arguments after `inspect` @returns exit code */
export async function runInspect(
  args: readonly string[],
  environment: Environment,
): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(HELP);
    return 0;
  }
  const [model, ...rest] = args.filter((arg) => arg !== '--json');
  if (model === undefined || model.startsWith('-')) {
    return fail(['expected the path of a model. See inspect --help'], EXIT_USAGE);
  }
  try {
    const config = readConfig(['sentiment', ...rest], environment);
    const problem = limitInstructions(config.instructionSet);
    if (problem) return fail([problem], EXIT_USAGE);
    const isJson = args.includes('--json');
    const { report, described } = await inspect(model, config.scheduling);
    process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : described);
    return report.problem ? EXIT_FAILURE : 0;
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.lines, EXIT_USAGE);
    return fail([printable((error as Error).message)], EXIT_FAILURE);
  }
}

async function inspect(
  path: string,
  scheduling: SchedulingOptions,
): Promise<{ readonly report: ModelReport | InspectedArchive; readonly described: string }> {
  if (path.endsWith('.mar')) {
    const report = await inspectArchive(path, scheduling);
    return { report, described: describeArchive(report) };
  }
  const report = await inspectModel(path, scheduling);
  return { report, described: describeReport(report) };
}

function fail(lines: readonly string[], exitCode: number): number {
  for (const line of lines) process.stderr.write(`libtorch-serve inspect: ${line}\n`);
  return exitCode;
}
