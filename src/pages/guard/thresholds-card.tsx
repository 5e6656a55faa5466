import type { Check } from './file';
import { file, toneOf } from './file';
import { guarding } from './state';
import { isMoved, move, moveBack, type Slider, slidersOf, thresholdAt } from './thresholds';

const STEP = 0.01;

/** A slider for each label of each check. */
export function ThresholdsCard() {
  if (!file.value) return null;
  return (
    <section class="card" aria-labelledby="thresholds">
      <div class="row ends">
        <h2 id="thresholds">Thresholds</h2>
        <button type="button" class="small" disabled={!isMoved.value} onClick={moveBack}>
          As in the file
        </button>
      </div>
      <p class="quiet">
        They hold for this page alone, at once and for the answer that is there. Take the file below
        to keep them.
      </p>
      {file.value.checks.map((check) => (
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
  const value = thresholdAt(slider);
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
        onInput={({ currentTarget }) => move(slider, Number(currentTarget.value))}
      />
      {guarding.answer.value && (
        <span class="quiet">
          {highest === null ? 'No score here' : `Highest score here: ${highest.toFixed(4)}`}
        </span>
      )}
    </div>
  );
}

function highestScore({ check, label }: Slider): number | null {
  const scores = (guarding.answer.value?.body.scores ?? [])
    .filter((one) => one.check === check && (label === null || one.label === label))
    .map(({ score }) => score);
  return scores.length === 0 ? null : scores.reduce((a, b) => Math.max(a, b));
}

const ACTIONS = { block: 'Blocks', redact: 'Redacts', note: 'Notes' };
const DIRECTIONS = { both: 'input and output', input: 'input', output: 'output' };

function describe(check: Check): string {
  const found =
    check.type === 'patterns'
      ? `${[...check.kinds.map((kind) => kind.toUpperCase()), ...Object.keys(check.patterns)].join(', ')}, where patterns match`
      : `what model ${check.model} finds from these scores on`;
  return `${ACTIONS[check.action]} ${found}, in ${DIRECTIONS[check.on]}.`;
}
