import { existsSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { UsageError } from '../../../files/file-errors';
import { STANDARD_STREAM } from '../../../files/formats';
import type { Config } from '../../../settings/config';
import type { Environment } from '../../../settings/environment';
import { WindowQueue } from '../../../streaming/window-queue';
import { signalClassification } from '../../../tasks/signal-classification/signal-classification-task';
import { TaskModel } from '../../../tasks/task-model';
import { readBatchConfig, reportError, stuckAfterMs } from '../../batch/batch-command';
import { HungModelError } from '../../batch/dispatcher';
import { withoutQueueLimits } from '../../batch/task-job';
import { EXIT_REJECTED_ROWS, printError } from '../../exit';
import { PRESETS } from '../../presets';
import { FLAGS, NOTICE } from '../classify-command';
import { type FollowOptions, readFollowOptions } from './follow-options';
import { FollowOutput, outputExists } from './follow-output';
import { FollowedFile } from './followed-file';
import { readPipe, tailFile } from './tail-file';

/** Interval of checks for a hung model, in ms. */
const CHECK_INTERVAL_MS = 100;

type SignalModel = Awaited<ReturnType<typeof loadModel>>;

/** Runs `libtorch-serve classify eeg --follow FILE`. @returns exit code */
export async function runFollow(
  args: readonly string[],
  environment: Environment,
): Promise<number> {
  const stopping = stopAtSignals();
  try {
    const options = readFollowOptions(args, FLAGS);
    validateFiles(options);
    const config = readBatchConfig(['eeg', ...options.settings], environment);
    const model = await loadModel(config);
    try {
      model.warnings.forEach(printError);
      const { answered, problems } = await followFile(options, model, config, stopping);
      printError(
        `${options.name}: ${answered} windows classified, ${problems} lines or windows without a result`,
      );
      printError(NOTICE);
      return stopping.exitCode ?? (problems > 0 ? EXIT_REJECTED_ROWS : 0);
    } finally {
      model.drop();
      await model.close();
    }
  } catch (error) {
    return reportError(error as Error);
  } finally {
    stopping.stop();
    // An open pipe would keep the process running.
    process.stdin.destroy();
  }
}

function loadModel(config: Config) {
  return TaskModel.load(
    signalClassification,
    PRESETS.eeg.modelPath(config),
    withoutQueueLimits(config),
  );
}

/** Validates the files; a missing input file is allowed. @throws UsageError */
function validateFiles({ name, path, output, overwrites }: FollowOptions): void {
  const stat = path === null ? undefined : statSync(path, { throwIfNoEntry: false });
  if (stat && !stat.isFile()) {
    throw new UsageError(`${name}: expected a regular file. Use --follow - < ${name}`);
  }
  if (output === STANDARD_STREAM || !existsSync(output)) return;
  if (stat && statSync(output).ino === stat.ino) {
    throw new UsageError(`${output}: is the followed file. Use another output file`);
  }
  if (!overwrites) throw new UsageError(outputExists(output));
}

class StopSignal {
  readonly #abort = new AbortController();
  /** Null before a signal. */
  exitCode: number | null = null;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  readonly stop = (): void => this.#abort.abort();
}

/** Stops after the complete windows; a second signal exits at once. */
function stopAtSignals(): StopSignal {
  const stopping = new StopSignal();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const exitCode = 128 + constants.signals[signal];
      if (stopping.exitCode !== null) process.exit(exitCode);
      printError(`stopped (${signal})`);
      stopping.exitCode = exitCode;
      stopping.stop();
    });
  }
  return stopping;
}

async function followFile(
  { name, path, cutting, output: out, overwrites }: FollowOptions,
  model: SignalModel,
  config: Config,
  stopping: StopSignal,
): Promise<Pick<FollowedFile, 'answered' | 'problems'>> {
  const { settings } = model.metadata;
  if (settings.channels !== null) {
    throw new UsageError(
      '--follow: the model takes several channels. Classify the complete file, or send its samples to /stream',
    );
  }
  const queue = new WindowQueue(model);
  const output: FollowOutput = new FollowOutput(out, overwrites, () => file.onDrain());
  const streamModel = { name: model.metadata.name ?? '', model, settings, queue };
  const file = new FollowedFile({ name, model: streamModel, cutting, output, note: printError });
  const changes =
    path === null
      ? readPipe(process.stdin, stopping.signal)
      : tailFile(name, path, stopping.signal);
  const all = async () => {
    for await (const change of changes) await file.take(change);
    await file.end(path === null && !stopping.signal.aborted);
    await output.end();
  };
  const watch = watchModel(model, file, stuckAfterMs(config));
  try {
    await Promise.race([all(), output.failed, watch.failed]);
    return file;
  } finally {
    watch.close();
    file.stop();
  }
}

/** `failed` rejects with HungModelError when the model does not finish its windows. */
function watchModel(model: SignalModel, file: FollowedFile, afterMs: number) {
  let timer: NodeJS.Timeout | undefined;
  let busySince = performance.now();
  const failed = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      const now = performance.now();
      if (file.inFlight === 0) busySince = now;
      const { stuckMs } = model.monitor;
      if (stuckMs === 0 || now - Math.max(busySince, file.answeredAt) < afterMs) return;
      const seconds = Math.round(stuckMs / 1000);
      reject(new HungModelError(`the model has been stuck in a window for ${seconds} s`));
    }, CHECK_INTERVAL_MS);
  });
  failed.catch(() => {}); // Callers that await `failed` get the error.
  return { failed, close: () => clearInterval(timer) };
}
