import { percent } from './format';

interface ScoreBarsProps {
  /** Accessible name of the list. */
  readonly name?: string;
  readonly scores: readonly (readonly [label: string, score: number])[];
  /** Predicted label, whose bar is highlighted. */
  readonly top: string;
  /** Index of the color of a label. */
  readonly toneOf: (label: string) => number;
}

/** Bar chart of the scores of all labels: up to eight in the order of the model, more of them by score. */
export function ScoreBars({
  name = 'Probability of each label',
  scores,
  top,
  toneOf,
}: ScoreBarsProps) {
  const shown = scores.length <= 8 ? scores : [...scores].sort(([, a], [, b]) => b - a);
  // With `function_to_apply: none` the scores are logits.
  const areProbabilities = scores.every(([, value]) => value >= 0 && value <= 1);
  return (
    <ul class="bars" aria-label={name}>
      {shown.map(([label, value]) => (
        <li key={label} class={label === top ? 'top-one' : ''}>
          <span class="wrap">{label}</span>
          <span>{areProbabilities ? percent(value) : value.toFixed(4)}</span>
          {areProbabilities && (
            <span class="track" aria-hidden="true">
              <span class={`fill tone-${toneOf(label)}`} style={{ width: `${value * 100}%` }} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
