import { Select } from '../../shared/request-form';
import { isOn, setSpeed, skipsLate, smoothing, speed, step } from './live';

const MAX_SPEED = 60;
/** Step of Page Up and Page Down. */
const PAGE_STEP = 10;

const STEPS = [
  ['window', 'a window'],
  ['half', 'half a window'],
  ['quarter', 'a quarter'],
] as const;
const SMOOTHINGS = [
  ['none', 'none'],
  ['median', 'median of 5 windows'],
  ['exponential', 'exponential, 0.3'],
] as const;

/** Playback speed and stream options; the options are fixed during playback. */
export function LiveControls() {
  return (
    <>
      <div class="fields">
        <SpeedField />
        <Select
          id="step"
          label="From window to window"
          value={step}
          options={STEPS}
          isDisabled={isOn.value}
        />
        <Select
          id="smoothing"
          label="Smoothing"
          value={smoothing}
          options={SMOOTHINGS}
          isDisabled={isOn.value}
        />
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={skipsLate.value}
          disabled={isOn.value}
          onChange={(event) => {
            skipsLate.value = event.currentTarget.checked;
          }}
        />
        Skip windows that are more than a second late
      </label>
    </>
  );
}

function SpeedField() {
  const words = `${speed.value} ×`;
  return (
    <div class="field">
      <div class="row ends">
        <label for="speed">Speed</label>
        <output for="speed" class="quiet">
          {words}
        </output>
      </div>
      <input
        id="speed"
        type="range"
        min={1}
        max={MAX_SPEED}
        step={1}
        value={speed.value}
        aria-valuetext={`${speed.value} times`}
        onInput={(event) => setSpeed(event.currentTarget.valueAsNumber)}
        onKeyDown={(event) => {
          const change = { PageUp: PAGE_STEP, PageDown: -PAGE_STEP }[event.key];
          if (change === undefined) return;
          event.preventDefault();
          setSpeed(Math.min(MAX_SPEED, Math.max(1, speed.value + change)));
        }}
      />
    </div>
  );
}
