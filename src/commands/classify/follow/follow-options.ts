import { resolve } from 'node:path';
import { UsageError } from '../../../files/file-errors';
import type { Flags, FlagValues } from '../../../files/flags';
import { STANDARD_STREAM } from '../../../files/formats';
import type { WindowOptions } from '../../../files/readers/recording-reader';
import { readCommandLine } from '../../batch/file-options';
import { windowOptionsOf } from '../../batch/rows/signal-rows';

export const FOLLOW = 'follow';

/** Options of `classify eeg --follow`. */
export interface FollowOptions {
  /** File name from the command line, for messages. */
  readonly name: string;
  /** Absolute path; null for standard input. */
  readonly path: string | null;
  readonly cutting: WindowOptions;
  readonly output: string;
  readonly overwrites: boolean;
  /** Settings of the model as flags. */
  readonly settings: readonly string[];
}

/** Flags of `classify` that also apply to --follow. */
const ALLOWED = ['output', 'overwrite', 'channel', 'step', 'sampling-rate', 'resample'];
/** Reasons why other flags are rejected. */
const REASONS: Readonly<Record<string, string>> = {
  resume: '--follow always reads its input from the start. Use --overwrite or another output',
  rejects: 'the output contains lines without a sample',
  'input-format': 'a followed file is text with one sample per line',
};
const DEFAULT_REASON = 'the output contains the results of a stream as JSON lines';

/** @throws UsageError */
export function readFollowOptions(args: readonly string[], flags: Flags): FollowOptions {
  const { values, words, settings } = readCommandLine(args, flags);
  const [service, name, ...more] = words;
  if (service !== 'eeg')
    throw new UsageError('--follow: expected a signal model. Use classify eeg --follow FILE');
  if (name === undefined || more.length > 0) {
    throw new UsageError('--follow: expected one file, or - for a pipe; see --help');
  }
  requireAllowed(values);
  return {
    name,
    path: name === STANDARD_STREAM ? null : resolve(name),
    settings,
    cutting: windowOptionsOf(values),
    output: values.get('output') ?? STANDARD_STREAM,
    overwrites: values.has('overwrite'),
  };
}

function requireAllowed(values: FlagValues): void {
  const other = [...values.keys()].find((name) => name !== FOLLOW && !ALLOWED.includes(name));
  if (other === undefined) return;
  throw new UsageError(
    `--${other}: cannot be combined with --follow: ${REASONS[other] ?? DEFAULT_REASON}`,
  );
}
