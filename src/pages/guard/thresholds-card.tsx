import { guardRequest } from './guard-state';
import {
  type Check,
  isChanged,
  policy,
  resetThresholds,
  type Slider,
  setThreshold,
  slidersOf,
  thresholdOf,
  toneOf,
} from './policy';

const STEP = 0.01;

/** One slider per label of each check. */
export function ThresholdsCard() {
  if (!policy.value) return null;
  return (
    <section class="card" aria-labelledby="thresholds">
      <div class="row ends">
        <h2 id="thresholds">Thresholds</h2>
        <button type="button" class="small" disabled={!isChanged.value} onClick={resetThresholds}>
          Reset
        </button>
      </div>
      <p class="quiet">
        Changes apply to the current result on this page only. To keep them, download the policy
        file below.
      </p>
      {policy.value.checks.map((check) => (
        <CheckSliders key={check.name} check={check} />
      ))}
    </section>
  );
}

function CheckSliders({ check }: { readonly check: Check }) {
  const sliders = slidersOf(check);
  return (
    <fieldset class="sliders">
      <legend class="labelled">
        <span class={`swatch ${toneOf(check.name)}`} aria-hidden="true" />
        {check.name}
      </legend>
      <p class="quiet">{describe(check)}</p>
      {sliders.map((slider) => (
        <ThresholdSlider key={slider.label} slider={slider} />
      ))}
    </fieldset>
  );
}

function ThresholdSlider({ slider }: { readonly slider: Slider }) {
  const value = thresholdOf(slider);
  const highest = highestScore(slider);
  const id = `threshold ${slider.check} ${slider.label ?? ''}`;
  return (
    <div class="slider">
      <label for={id}>{slider.label ?? 'all labels'}</label>
      <output for={id}>{value.toFixed(2)}</output>
      <input
        id={id}
        type="range"
        min={0}
        max={1}
        step={STEP}
        value={value}
        aria-label={`${slider.check}: ${slider.label ?? 'all labels'}`}
        onInput={({ currentTarget }) => setThreshold(slider, Number(currentTarget.value))}
      />
      {guardRequest.response.value && (
        <span class="quiet">
          {highest === null
            ? 'No score in this text'
            : `Highest score in this text: ${highest.toFixed(4)}`}
        </span>
      )}
    </div>
  );
}

function highestScore({ check, label }: Slider): number | null {
  const scores = (guardRequest.response.value?.body.scores ?? [])
    .filter((score) => score.check === check && (label === null || score.label === label))
    .map(({ score }) => score);
  return scores.length === 0 ? null : scores.reduce((a, b) => Math.max(a, b));
}

const ACTIONS = { block: 'Blocks', redact: 'Redacts', flag: 'Flags' };
const DIRECTIONS = { both: 'input and output', input: 'input', output: 'output' };

function describe(check: Check): string {
  const found =
    check.type === 'patterns'
      ? `${[...check.kinds.map((kind) => kind.toUpperCase()), ...Object.keys(check.patterns)].join(', ')}, by pattern`
      : `labels of model ${check.model} from these scores`;
  return `${ACTIONS[check.action]} ${found}, in ${DIRECTIONS[check.on]}.`;
}
