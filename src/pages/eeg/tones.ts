import { info } from '../shared/info';

/** By the place of the class among the model's own; classes beyond the sixth share colours. */
export function toneOf(name: string): number {
  const classes = info.value?.model.classes ?? [];
  return Math.max(0, classes.indexOf(name)) % 6;
}
