import { findChannel } from '../../recordings/recording';
import { clock, count } from '../shared/format';
import { Note } from '../shared/note';
import { OverviewPlot, PlotButtons } from './overview-plot';
import { RateNote } from './rate-note';
import {
  adjacentStarts,
  channelIndex,
  model,
  moveBy,
  moveTo,
  rate,
  recording,
  samples,
  selectChannel,
  start,
  timeline,
  windowLength,
} from './state';

/** Plot of the channel and controls of the window. */
export function SignalCard() {
  const [all, length] = [samples.value, windowLength.value];
  if (all === null) return null;
  const hasWindow = adjacentStarts.value.length > 0;
  return (
    <section class="card" aria-labelledby="signal">
      <div class="row ends">
        <h2 id="signal">Signal</h2>
        <PlotButtons />
      </div>
      <ChannelChoice />
      <RateNote />
      <OverviewPlot />
      {length !== null && !hasWindow && (
        <Note tone="warn" title="This channel is shorter than a window.">
          The model takes {count(length)} samples at a time; there are {count(all.length)}
          {timeline.value?.gaps.length ? ', with gaps between them' : ''}.
        </Note>
      )}
      {length !== null && hasWindow && <WindowSlider last={all.length - length} length={length} />}
    </section>
  );
}

function ChannelChoice() {
  const channels = recording.value?.channels ?? [];
  const wanted = model.value?.channel ?? null;
  const proposed = findChannel(channels, wanted);
  return (
    <>
      <div class="field channel">
        <label for="channel">Channel</label>
        <select
          id="channel"
          value={String(channelIndex.value)}
          onChange={(event) => selectChannel(Number(event.currentTarget.value))}
        >
          {channels.map((channel, index) => (
            <option key={index} value={String(index)}>
              {channel.label}
              {index === proposed ? ' (the model’s)' : ''}
            </option>
          ))}
        </select>
      </div>
      {wanted !== null && proposed === null && (
        <Note tone="warn" title={`The model was trained on channel ${wanted}.`}>
          No channel has that name, so predictions may be meaningless.
        </Note>
      )}
    </>
  );
}

function WindowSlider({ last, length }: { readonly last: number; readonly length: number }) {
  const at = start.value;
  const position = describePosition(at, length);
  return (
    <div class="field">
      <div class="row ends">
        <label for="window">Window</label>
        <output for="window" class="quiet">
          {position}
        </output>
      </div>
      <div class="slider">
        <button type="button" class="small" disabled={at === 0} onClick={() => moveBy(-length)}>
          Previous
        </button>
        <input
          id="window"
          type="range"
          min={0}
          max={last}
          step={1}
          value={at}
          aria-valuetext={position}
          onInput={(event) => moveTo(event.currentTarget.valueAsNumber)}
          onKeyDown={(event) => {
            const steps: Readonly<Record<string, number>> = {
              ArrowLeft: -1,
              ArrowDown: -1,
              ArrowRight: 1,
              ArrowUp: 1,
              PageDown: -4,
              PageUp: 4,
            };
            const direction = steps[event.key];
            if (direction === undefined) return;
            event.preventDefault();
            moveBy((direction * length) / 4);
          }}
        />
        <button type="button" class="small" disabled={at >= last} onClick={() => moveBy(length)}>
          Next
        </button>
      </div>
      <small>
        Click the signal or move the slider; arrow keys move by a quarter of a window. Drag over the
        signal to zoom.
      </small>
    </div>
  );
}

function describePosition(at: number, length: number): string {
  const [hz, axis] = [rate.value, timeline.value];
  if (hz === null || !axis) return `samples ${count(at)} to ${count(at + length)}`;
  const from = axis.toSeconds(at);
  return `${clock(from)} to ${clock(from + length / hz)}`;
}
