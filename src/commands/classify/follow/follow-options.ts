import path from 'node:path';
import { UsageError } from '../../../files/file-errors';
import type { Flags, FlagValues } from '../../../files/flags';
import { STANDARD_STREAM } from '../../../files/formats';
import type { WindowOptions } from '../../../files/readers/recording-reader';
import { cuttingOf } from '../../../tasks/signal-classification/signal-rows';
import { readCommandLine } from '../../batch/file-options';

export const FOLLOW = 'follow';

/** What `classify eeg --follow` is asked for. */
export interface FollowOptions {
  /** As it is written. */
  readonly name: string;
  /** Absolute; null: standard input. */
  readonly place: string | null;
  readonly cutting: WindowOptions;
  readonly output: string;
  readonly overwrites: boolean;
  /** As the services take them. */
  readonly settings: readonly string[];
}

/** Flags of `classify` that mean the same here. */
const SAME = ['output', 'overwrite', 'channel', 'step', 'sampling-rate', 'resample'];
/** Why others do not. */
const REASONS: Readonly<Record<string, string>> = {
  resume: 'a file that is followed is read from its beginning: use --overwrite, or another output',
  rejects: 'lines without a sample are in the output, where they belong',
  'input-format': 'what is followed is text, with a sample in each line',
};
const REASON = 'the answers are those of a stream, as lines of JSON';

/** @throws UsageError */
export function readFollowOptions(args: readonly string[], flags: Flags): FollowOptions {
  const { values, words, settings } = readCommandLine(args, flags);
  const [service, name, ...more] = words;
  if (service !== 'eeg')
    throw new UsageError('--follow: is for signals: classify eeg --follow FILE');
  if (name === undefined || more.length > 0) {
    throw new UsageError('--follow: expected one file, or - for a pipe; see --help');
  }
  requireSame(values);
  return {
    name,
    place: name === STANDARD_STREAM ? null : path.resolve(name),
    settings,
    cutting: cuttingOf(values),
    output: values.get('output') ?? STANDARD_STREAM,
    overwrites: values.has('overwrite'),
  };
}

function requireSame(values: FlagValues): void {
  const other = [...values.keys()].find((name) => name !== FOLLOW && !SAME.includes(name));
  if (other === undefined) return;
  throw new UsageError(`--${other}: goes not with --follow: ${REASONS[other] ?? REASON}`);
}
