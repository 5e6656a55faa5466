import { plural } from '../../shared/format';
import { Note } from '../../shared/note';
import { Select } from '../../shared/request-form';
import { RateField } from '../rate-note';
import { model, recording } from '../state';
import { ViewButtons } from '../view-buttons';
import { ChannelNames, QualityTable } from './channel-names';
import {
  filterPhase,
  filterProblem,
  filterProgress,
  highPass,
  isFiltered,
  lowPass,
  notch,
} from './display-filter';
import { OverviewStrip } from './overview-strip';
import { PlotCanvas } from './plot-canvas';
import { selection, selectionProblem } from './selection';
import { scaleUnit, traces } from './traces';
import { changeScale, scale, scrollBy, showAll, zoom } from './view-state';

const HIGH_PASS = [
  ['none', 'none'],
  ['0.1', '0.1 Hz'],
  ['0.5', '0.5 Hz'],
  ['1', '1 Hz'],
  ['4', '4 Hz'],
] as const;
const LOW_PASS = [
  ['none', 'none'],
  ['15', '15 Hz'],
  ['30', '30 Hz'],
  ['40', '40 Hz'],
  ['70', '70 Hz'],
] as const;
const NOTCH = [
  ['none', 'none'],
  ['50', '50 Hz'],
  ['60', '60 Hz'],
] as const;
const PHASES = [
  ['zero', 'zero phase'],
  ['causal', 'causal'],
] as const;

/** Stacked signals of all channels. */
export function SignalsCard() {
  if (recording.value === null) return null;
  return (
    <section class="card" aria-labelledby="signals">
      <div class="row ends">
        <h2 id="signals">Signals</h2>
        <SignalButtons />
      </div>
      <SelectionNotes />
      <FilterFields />
      <div class="stack">
        <ChannelNames />
        <PlotCanvas />
      </div>
      <OverviewStrip />
      <small id="channel-keys">
        Click the signals or use the arrow keys to move the cursor; with Shift, by a window. Arrow
        up and down zoom, Page up and Page down scroll, + and − change the scale. Drag to scroll;
        the wheel scrolls with Shift and zooms with Ctrl.
      </small>
      <QualityTable />
    </section>
  );
}

function SignalButtons() {
  const unit = scaleUnit.value;
  const buttons = [
    { label: 'Show less time', sign: '⇥⇤', act: () => zoom(1) },
    { label: 'Show more time', sign: '⇤⇥', act: () => zoom(-1) },
    { label: 'Earlier', sign: '←', act: () => scrollBy(-0.5) },
    { label: 'Later', sign: '→', act: () => scrollBy(0.5) },
    { label: 'Smaller signals', sign: '−', act: () => changeScale(1) },
    { label: 'Larger signals', sign: '+', act: () => changeScale(-1) },
  ];
  return (
    <ViewButtons label="View of the signals" buttons={buttons} onShowAll={showAll}>
      <output class="quiet" aria-label="Scale">
        {scale.value} {unit}/division
      </output>
    </ViewButtons>
  );
}

/** Notes about the channels and the rate that the model gets. */
function SelectionNotes() {
  const [problem, chosen] = [selectionProblem.value, selection.value];
  const unit = model.value?.unit ?? null;
  const hasNoUnit = unit !== null && chosen?.channels.some((channel) => channel.unit === null);
  const isRateUnknown = recording.value?.channels.some(
    ({ samplingRateHz }) => samplingRateHz === null,
  );
  return (
    <div role="status" class="status-region">
      {problem && (
        <Note tone="warn" title={problem.title}>
          {problem.advice}
        </Note>
      )}
      {chosen && chosen.missing.length > 0 && (
        <Note title={`The server interpolates ${chosen.missing.join(', ')}.`}>
          The recording has no {chosen.missing.length === 1 ? 'channel' : 'channels'} of that name.
        </Note>
      )}
      {hasNoUnit && (
        <Note tone="warn" title="The recording does not specify the unit of its channels.">
          The model expects {unit}.
        </Note>
      )}
      {isRateUnknown && (
        <Note tone="warn" title="The recording does not specify its sampling rate.">
          Without a rate, that of the model is assumed.
          <RateField />
        </Note>
      )}
    </div>
  );
}

/** Filter of the drawing. */
function FilterFields() {
  const total = traces.value.length;
  return (
    <>
      <div class="fields">
        <Select id="high-pass" label="High-pass" value={highPass} options={HIGH_PASS} />
        <Select id="low-pass" label="Low-pass" value={lowPass} options={LOW_PASS} />
        <Select id="notch" label="Notch" value={notch} options={NOTCH} />
        <Select id="phase" label="Phase" value={filterPhase} options={PHASES} />
      </div>
      <div role="status" class="status-region">
        {filterProgress.value !== null && (
          <p class="quiet">
            Filtering: {filterProgress.value} of {plural(total, 'channel')}…
          </p>
        )}
        {filterProblem.value && (
          <Note tone="bad" title="The filter cannot be applied." detail={filterProblem.value} />
        )}
        {isFiltered.value && filterProgress.value === null && !filterProblem.value && (
          <p class="quiet">
            The filter changes the drawing only: the server gets the recorded samples.
          </p>
        )}
      </div>
    </>
  );
}
