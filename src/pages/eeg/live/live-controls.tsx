import type { Signal } from '@preact/signals';
import { isOn, setSpeed, skipsLate, smoothing, speed, step } from './live';

const MOST_SPEED = 60;
/** By Page up and Page down. */
const LEAP = 10;

const STEP_WORDS = { window: 'a window', half: 'half a window', quarter: 'a quarter' } as const;
const SMOOTHING_WORDS = {
  none: 'none',
  median: 'median of 5 windows',
  exponential: 'exponential, 0.3',
} as const;

/** How it is played, and what is asked of the service, which stays as it is while it plays. */
export function LiveControls() {
  return (
    <>
      <div class="fields">
        <SpeedField />
        <Choice id="step" label="From window to window" value={step} words={STEP_WORDS} />
        <Choice id="smoothing" label="Smoothing" value={smoothing} words={SMOOTHING_WORDS} />
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
        max={MOST_SPEED}
        step={1}
        value={speed.value}
        aria-valuetext={`${speed.value} times`}
        onInput={(event) => setSpeed(event.currentTarget.valueAsNumber)}
        onKeyDown={(event) => {
          const leap = { PageUp: LEAP, PageDown: -LEAP }[event.key];
          if (leap === undefined) return;
          event.preventDefault();
          setSpeed(Math.min(MOST_SPEED, Math.max(1, speed.value + leap)));
        }}
      />
    </div>
  );
}

interface ChoiceProps<Name extends string> {
  readonly id: string;
  readonly label: string;
  readonly value: Signal<Name>;
  readonly words: Readonly<Record<Name, string>>;
}

function Choice<Name extends string>({ id, label, value, words }: ChoiceProps<Name>) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value.value}
        disabled={isOn.value}
        onChange={(event) => {
          value.value = event.currentTarget.value as Name;
        }}
      >
        {Object.entries<string>(words).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
