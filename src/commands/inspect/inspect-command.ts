import { printable } from '../../lib/printable';
import { limitInstructions } from '../../native/addon';
import type { SchedulingOptions } from '../../native/engine';
import { ConfigError, readConfig } from '../../settings/config';
import type { Environment } from '../../settings/environment';
import { describeArchive, describeReport } from './format-report';
import { type InspectedArchive, inspectArchive } from './inspect-archive';
import { inspectModel, type ModelReport } from './inspect-model';

const EXIT_REFUSED = 1;
const EXIT_USAGE = 2;

const HELP = `Usage: libtorch-serve inspect PATH [--json] [--setting value ...]

What a model takes and gives, its size, its operators, whether requests share a run, and why it
would be refused. PATH is a model folder, or a file: TorchScript (.pt), torch.export (.pt2), or an
archive of TorchServe (.mar). It is loaded and tried as a service would; settings such as
--allowed-operators and --dtype count.

  --json                    everything, as JSON
  --help, -h                this text

Ends with 0 where the model can be served, 1 where it cannot, 2 where the command line is wrong.
`;

/**
 * `libtorch-serve inspect`.
 *
 * @param args after `inspect`
 * @returns the exit code
 */
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
    return fail(['expected the path of a model; see inspect --help'], EXIT_USAGE);
  }
  try {
    const config = readConfig(['sentiment', ...rest], environment);
    const problem = limitInstructions(config.instructionSet);
    if (problem) return fail([problem], EXIT_USAGE);
    const isJson = args.includes('--json');
    const { report, described } = await inspect(model, config.scheduling);
    process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : described);
    return report.problem ? EXIT_REFUSED : 0;
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.lines, EXIT_USAGE);
    return fail([printable((error as Error).message)], EXIT_REFUSED);
  }
}

async function inspect(
  place: string,
  scheduling: SchedulingOptions,
): Promise<{ readonly report: ModelReport | InspectedArchive; readonly described: string }> {
  if (place.endsWith('.mar')) {
    const report = await inspectArchive(place, scheduling);
    return { report, described: describeArchive(report) };
  }
  const report = await inspectModel(place, scheduling);
  return { report, described: describeReport(report) };
}

function fail(lines: readonly string[], exitCode: number): number {
  for (const line of lines) process.stderr.write(`libtorch-serve inspect: ${line}\n`);
  return exitCode;
}
