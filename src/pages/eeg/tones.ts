import { info } from '../shared/info';

/** Color by index of the class; classes from the seventh on reuse colors. */
export function toneOf(name: string): number {
  const classes = info.value?.model.classes ?? [];
  return Math.max(0, classes.indexOf(name)) % 6;
}
