import { percent } from './format';

interface BarsProps {
  readonly scores: readonly (readonly [label: string, score: number])[];
  /** The answer: its bar stands out. */
  readonly top: string;
  /** Index of the colour of each class. */
  readonly toneOf: (label: string) => number;
}

/** All classes with their probabilities, as they come up to eight, else the most likely first. */
export function ProbabilityBars({ scores, top, toneOf }: BarsProps) {
  const shown = scores.length <= 8 ? scores : [...scores].sort(([, a], [, b]) => b - a);
  // A model may answer with numbers that are no probabilities (function_to_apply: none).
  const areProbabilities = scores.every(([, value]) => value >= 0 && value <= 1);
  return (
    <ul class="bars" aria-label="Probability of each class">
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
