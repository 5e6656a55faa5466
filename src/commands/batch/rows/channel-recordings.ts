import {
  requireSamplingRate,
  unknownSamplingRate,
  type WindowOptions,
} from '../../../files/readers/recording-reader';
import type { RowBatch } from '../../../files/rows';
import { type Block, lengthOf, PreprocessingError } from '../../../preprocessing/block';
import {
  type Channel,
  findChannel,
  type Recording,
  RecordingError,
  windowStarts,
} from '../../../recordings/recording';
import { unitFactor } from '../../../recordings/units';
import { type ChannelPlan, planChannels } from '../../../tasks/signal-classification/channel-plan';
import type { ChannelSettings } from '../../../tasks/signal-classification/channel-settings';
import { type EpochEvent, epochsIn, eventsOf } from '../../../tasks/signal-classification/epochs';
import type { ModelSettings } from '../../../tasks/signal-classification/model-settings';
import { toRows } from '../../../tasks/signal-classification/window-preparation';

const BATCH_WINDOWS = 64;

/** A part of a recording without gaps. */
interface Part {
  readonly startSeconds: number;
  readonly firstSample: number;
  readonly endSample: number;
}

/** A window of a part. */
interface Window {
  readonly start: number;
  /** Text of the event and the class that it names; null: a window without an event. */
  readonly event: { readonly text: string; readonly expected: string | null } | null;
}

/**
 * Divides a recording into the windows of a multi-channel model: `step` samples apart, or around annotations. The steps
 * over the signal process each part between gaps as a signal of its own.
 *
 * @throws RecordingError
 */
export function* splitChannels(
  recording: Recording,
  settings: ModelSettings,
  options: WindowOptions,
  warn: (text: string) => void,
): Generator<RowBatch> {
  const { name } = recording;
  if (options.channel !== null) {
    throw new RecordingError(`${name}: the model takes several channels. Omit --channel.`);
  }
  const selected = selectChannels(recording, settings, options);
  const plan = planFor(name, selected, settings);
  if (plan.interpolated.length > 0) warn(`Interpolated: ${plan.interpolated.join(', ')}.`);
  const parts = partsOf(selected);
  const epochs = settings.channels?.epochs ?? null;
  const events = epochs && eventsOf(recording.annotations, epochs, settings.classes);
  let line = 0;
  for (const [index, part] of parts.entries()) {
    const process = () => plan.createPipeline().process(samplesOf(selected, part));
    const block = processPart(name, part, process, parts.length > 1 ? warn : null);
    if (block === null) continue;
    const windows = windowsIn(events, settings, options, {
      startSeconds: part.startSeconds,
      length: lengthOf(block),
    });
    const rate = settings.samplingRateHz as number;
    for (let at = 0; at < windows.length; at += BATCH_WINDOWS) {
      const rows = windows.slice(at, at + BATCH_WINDOWS).map(({ start, event }) => ({
        line: ++line,
        fields: {
          recording: name,
          start_seconds: Number((part.startSeconds + start / rate).toFixed(6)),
          ...(events && {
            event: event?.text ?? null,
            expected: event?.expected ?? null,
          }),
        },
        json: null,
        signal: toRows(
          block.map((samples) => samples.subarray(start, start + settings.windowLength)),
        ),
        window: { expected: event?.expected ?? null },
        size: settings.windowLength * block.length,
      }));
      yield {
        rows,
        fraction: (index + Math.min(1, (at + BATCH_WINDOWS) / windows.length)) / parts.length,
      };
    }
  }
  if (line === 0) throw new RecordingError(`${name}: ${describeNoWindow(settings)}`);
  if (events && line < events.length) {
    const missed = events.length - line;
    warn(`${missed} of ${events.length} events have no complete window without a gap.`);
  }
}

function describeNoWindow({ channels, windowLength, samplingRateHz }: ModelSettings): string {
  const window = `a window of ${windowLength} samples at ${samplingRateHz} Hz`;
  return channels?.epochs
    ? `no annotation that "epochs" of the model names has ${window}.`
    : `no part without a gap has ${window}.`;
}

/** Signals of the model's channels, with the same rate and segments, in the unit of the model. */
interface Selected {
  readonly channels: readonly Channel[];
  readonly rate: number;
}

/** @throws RecordingError */
function selectChannels(
  { name, channels, unreadable }: Recording,
  settings: ModelSettings,
  options: WindowOptions,
): Selected {
  const { inputs, unit, continuous } = settings.channels as ChannelSettings;
  const all = [...unreadable, ...channels];
  const found = inputs.flatMap((input) => {
    const index = findChannel(all, input);
    if (index === null) return [];
    const bad = unreadable[index];
    if (bad) throw new RecordingError(`${name}: channel “${bad.label}” ${bad.reason}.`);
    return [channels[index - unreadable.length] as Channel];
  });
  // A missing channel is reported with the names of all channels.
  const own = found.length === inputs.length ? found : [...new Set([...found, ...channels])];
  const [first] = found.length > 0 ? found : own;
  const rate = first?.samplingRateHz ?? options.samplingRate;
  if (rate === null || rate === undefined) throw unknownSamplingRate(name);
  if (!continuous.some(({ type }) => type === 'resample')) {
    requireSamplingRate(name, rate, { model: { ...settings, channel: null }, options });
  }
  const same = own.filter(
    (channel) =>
      (channel.samplingRateHz ?? options.samplingRate) === rate &&
      haveSameSegments(channel, first as Channel),
  );
  const other = found.find((channel) => !same.includes(channel));
  if (other) {
    throw new RecordingError(
      `${name}: “${other.label}” has another sampling rate or other gaps than “${first?.label}”. Export the channels of the model with one rate.`,
    );
  }
  return { channels: same.map((channel) => inUnit(name, channel, unit)), rate };
}

function haveSameSegments(a: Channel, b: Channel): boolean {
  return (
    a.samples.length === b.samples.length &&
    a.segments.length === b.segments.length &&
    a.segments.every(
      ({ firstSample, startSeconds }, index) =>
        firstSample === b.segments[index]?.firstSample &&
        startSeconds === b.segments[index]?.startSeconds,
    )
  );
}

/** @throws RecordingError: the units measure different things */
function inUnit(name: string, channel: Channel, unit: string | null): Channel {
  if (unit === null || channel.unit === null || channel.unit === unit) return channel;
  const factor = unitFactor(channel.unit, unit);
  if (factor === 1) return channel;
  if (factor !== null)
    return { ...channel, samples: channel.samples.map((value) => value * factor) };
  throw new RecordingError(
    `${name}: “${channel.label}” has the unit ${channel.unit}, the model takes ${unit}.`,
  );
}

/** @throws RecordingError */
function planFor(name: string, { channels, rate }: Selected, settings: ModelSettings): ChannelPlan {
  try {
    return planChannels(
      settings,
      channels.map(({ label }) => label),
      rate,
    );
  } catch (error) {
    if (!(error instanceof PreprocessingError)) throw error;
    throw new RecordingError(`${name}: ${error.message}.`);
  }
}

function partsOf({ channels }: Selected): readonly Part[] {
  const [first] = channels as [Channel];
  return first.segments.map(({ firstSample, startSeconds }, index) => {
    const endSample = first.segments[index + 1]?.firstSample ?? first.samples.length;
    return { startSeconds, firstSample, endSample };
  });
}

/** Copies, because the steps change samples in place. */
function samplesOf({ channels }: Selected, { firstSample, endSample }: Part): Block {
  return channels.map(({ samples }) => samples.slice(firstSample, endSample));
}

/**
 * @param warn null: the part is the whole recording
 * @returns null: the part is too short for a step, which is reported
 * @throws RecordingError: the recording is too short for a step
 */
function processPart(
  name: string,
  { startSeconds }: Part,
  process: () => Block,
  warn: ((text: string) => void) | null,
) {
  try {
    return process();
  } catch (error) {
    if (!(error instanceof PreprocessingError)) throw error;
    if (warn === null) throw new RecordingError(`${name}: ${error.message}.`);
    warn(`The part at ${startSeconds} s is skipped: ${error.message}.`);
    return null;
  }
}

function windowsIn(
  events: readonly EpochEvent[] | null,
  { channels, windowLength, samplingRateHz }: ModelSettings,
  options: WindowOptions,
  segment: { readonly startSeconds: number; readonly length: number },
): readonly Window[] {
  const epochs = channels?.epochs ?? null;
  if (epochs === null || events === null) {
    const step = options.step ?? channels?.step ?? windowLength;
    return windowStarts(segment.length, windowLength, step).map((start) => ({
      start,
      event: null,
    }));
  }
  const grid = { rate: samplingRateHz as number, windowLength };
  return epochsIn(events, epochs, segment, grid).map(({ start, text, expected }) => ({
    start,
    event: { text, expected },
  }));
}
