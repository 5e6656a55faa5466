import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../../files/file-errors';
import type { Flags } from '../../files/flags';
import { findDtypeProblem } from '../../native/addon';
import type { SchedulingOptions } from '../../native/engine';
import type { Environment } from '../../settings/environment';
import { CALIBRATION, type CalibrationFile } from '../../tasks/calibration/calibration';
import { DECISION_CALIBRATION } from '../../tasks/calibration/decision-calibration';
import { type Fit, fitCalibration } from '../../tasks/calibration/fit';
import type { Metrics } from '../../tasks/calibration/metrics';
import { reliabilityDiagram } from '../../tasks/calibration/reliability-diagram';
import { textClassification } from '../../tasks/text-classification/text-classification-task';
import { readBatchConfig, reportError } from '../batch/batch-command';
import { describeFlags, readCommandLine } from '../batch/file-options';
import { withoutQueueLimits } from '../batch/task-job';
import { fitDecisions } from './calibrate-decisions';
import { compareLogits, describeDifference } from './compare-dtypes';
import { readLabeledDecisions } from './labeled-decisions';
import { readLabeledTexts } from './labeled-examples';
import { logitsOf } from './logits';

const PLOT = 'calibration.svg';
const DECISION_PLOT = 'decision-calibration.svg';
const CROSS_FITTING =
  'Each half of the examples is measured with the calibration of the other half.';
/** Fewer examples say little: half of them measure the calibration of the other half. */
const MIN_EXAMPLES = 20;

const FLAGS: Flags = {
  decisions: { help: 'examples are questions about a state, for POST /decide' },
  force: { help: `replaces an existing ${CALIBRATION}` },
  'no-threshold': {
    help: 'two labels: fits no threshold',
  },
  'dry-run': { help: 'prints the report and writes no file' },
};

export const HELP = [
  'Usage: libtorch-serve calibrate FOLDER FILE... [--flag] [--setting value ...]',
  '',
  'Fits a temperature for the scores of a text classifier on labeled texts, and for two labels a',
  `threshold. Writes ${CALIBRATION} and ${PLOT} into the model folder; servers and`,
  'commands apply the file. Prints accuracy, expected calibration error (ECE) and Brier score',
  'before and after, and the differences between float32 and int8.',
  '',
  'Files: JSONL, CSV or TSV with the columns text, label (a name or an index; a list for labels that',
  'are predicted independently) and optionally text_pair. With --decisions: JSONL with state,',
  'question (as in POST /decide) and answer (true or false, a label, or a level).',
  '',
  ...describeFlags(FLAGS),
  '',
  'Settings of the services apply, such as --dtype and --workers (libtorch-serve --help).',
  '',
].join('\n');

/** Runs `libtorch-serve calibrate`. @param args arguments after `calibrate` @returns exit code */
export async function runCalibrate(
  args: readonly string[],
  environment: Environment,
): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(HELP);
    return 0;
  }
  try {
    await calibrate(args, environment);
    return 0;
  } catch (error) {
    return reportError(error as Error);
  }
}

async function calibrate(args: readonly string[], environment: Environment): Promise<void> {
  const { values, words, settings } = readCommandLine(args, FLAGS);
  const [folder, ...files] = words;
  if (folder === undefined || files.length === 0) {
    throw new UsageError(
      'expected a model folder and files with labeled texts. See calibrate --help',
    );
  }
  const config = readBatchConfig(['sentiment', ...settings], environment);
  const directory = path.resolve(folder);
  const file = path.join(directory, CALIBRATION);
  const isDry = values.has('dry-run');
  const scheduling = withoutQueueLimits(config);
  if (values.has('decisions')) {
    const isForced = isDry || values.has('force');
    return calibrateDecisions(directory, files, { scheduling, isDry, isForced });
  }
  if (!isDry && !values.has('force') && existsSync(file)) {
    throw new UsageError(`${CALIBRATION} exists in the folder. Use --force to replace it`);
  }
  const { labels, scoreFunction } = textClassification.read(directory).metadata;
  if (scoreFunction === 'none')
    throw new UsageError('expected a classifier, found a regression model');
  const texts = await readLabeledTexts(files, labels, scoreFunction);
  if (texts.length < MIN_EXAMPLES) {
    throw new UsageError(`expected at least ${MIN_EXAMPLES} labeled texts, found ${texts.length}`);
  }
  const { dtype = 'float32' } = scheduling;
  const logits = await logitsOf(directory, texts, scheduling);
  const examples = texts.map(({ targets }, index) => ({
    logits: logits[index] as Float32Array,
    targets,
  }));
  const fit = fitCalibration(examples, labels, scoreFunction, !values.has('no-threshold'));
  print(describeFit(fit, texts.length, dtype));
  const other = dtype === 'int8' ? 'float32' : 'int8';
  if (findDtypeProblem(other) === undefined) {
    const others = await logitsOf(directory, texts, { ...scheduling, dtype: other });
    const pairs = examples.map((example, index) => ({
      example,
      other: others[index] as Float32Array,
    }));
    print(describeDifference(compareLogits(pairs, scoreFunction, fit), [dtype, other]));
  }
  if (isDry) return;
  const { temperature, threshold, before, after } = fit;
  const content: CalibrationFile = {
    version: 1,
    labels: [...labels],
    temperature,
    threshold,
    examples: texts.length,
    measured: { dtype, before: figuresOf(before), after: figuresOf(after) },
  };
  await writeWhole(path.join(directory, PLOT), reliabilityDiagram(before, after));
  await writeWhole(file, `${JSON.stringify(content, null, 2)}\n`);
  print([`Wrote ${CALIBRATION} and ${PLOT} into the model folder.`]);
}

/** Fits and writes the temperatures of decisions. */
async function calibrateDecisions(
  directory: string,
  files: readonly string[],
  {
    scheduling,
    isDry,
    isForced,
  }: {
    readonly scheduling: SchedulingOptions;
    readonly isDry: boolean;
    readonly isForced: boolean;
  },
): Promise<void> {
  const target = path.join(directory, DECISION_CALIBRATION);
  if (!isForced && existsSync(target)) {
    throw new UsageError(`${DECISION_CALIBRATION} exists in the folder. Use --force to replace it`);
  }
  const { file, before, after } = await fitDecisions(
    directory,
    await readLabeledDecisions(files),
    scheduling,
  );
  const { predicate, choice, score } = file.temperatures;
  print([
    `${file.examples} examples: temperatures predicate ${predicate}, choice ${choice}, score ${score}`,
    metricsRow('before:', before),
    metricsRow('after:', after),
    CROSS_FITTING,
  ]);
  if (isDry) return;
  const measured = { before: figuresOf(before), after: figuresOf(after) };
  await writeWhole(path.join(directory, DECISION_PLOT), reliabilityDiagram(before, after));
  await writeWhole(target, `${JSON.stringify({ ...file, measured }, null, 2)}\n`);
  print([`Wrote ${DECISION_CALIBRATION} and ${DECISION_PLOT} into the model folder.`]);
}

function metricsRow(name: string, { accuracy, ece, brier, nll }: Metrics): string {
  return `${name.padEnd(8)} accuracy ${accuracy.toFixed(4)}   ECE ${ece.toFixed(4)}   Brier score ${brier.toFixed(4)}   log loss ${nll.toFixed(4)}`;
}

function describeFit({ temperature, threshold, before, after }: Fit, count: number, dtype: string) {
  return [
    `${count} examples, ${dtype}: temperature ${temperature}, threshold ${threshold ?? 'none'}`,
    metricsRow('before:', before),
    metricsRow('after:', after),
    CROSS_FITTING,
  ];
}

const figuresOf = ({ accuracy, ece, brier, nll }: Metrics) => ({ accuracy, ece, brier, nll });

/** Replaces a file as a whole: a server that watches the folder never reads a part of it. */
async function writeWhole(file: string, content: string): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, content);
  await rename(temporary, file);
}

function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
