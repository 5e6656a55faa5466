import { info } from '../shared/info';

/** A label of the model as spans have it, unless they are single tokens: `B-PER` is `PER`. */
function spanLabel(label: string): string {
  return label.slice(label.indexOf('-') + 1);
}

/** Class of the colour of a label; `B-PER`, `I-PER` and `PER` have one, those beyond the sixth share. */
export function toneOf(label: string): string {
  if (label === 'O') return 'tone-rest';
  const own = info.value?.model.labels ?? [];
  const labels = [...new Set(own.map(spanLabel))].filter((name) => name !== 'O');
  const place = own.includes(label) ? labels.indexOf(spanLabel(label)) : labels.indexOf(label);
  return `tone-${Math.max(0, place) % 6}`;
}
