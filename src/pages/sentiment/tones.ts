import { info } from '../shared/info';

/** The first label of two is mostly the negative one: it is orange, the other one teal. */
const TONES = [1, 0, 2, 3, 4, 5];

/** By the place of the label among the model's own; labels beyond the sixth share colours. */
export function toneOf(label: string): number {
  const labels = info.value?.model.labels ?? [];
  return TONES[Math.max(0, labels.indexOf(label)) % TONES.length] as number;
}
