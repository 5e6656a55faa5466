import { batch, computed, signal } from '@preact/signals';
import { plural } from '../shared/format';
import { createListFocus } from '../shared/list-focus';

/** Id of the text field for new labels. */
export const LABEL_INPUT = 'label';

/** Labels of the chips, without duplicates. */
export const labels = signal<readonly string[]>([]);
/** Label in the text field that is not a chip yet. */
export const pendingLabel = signal('');
/** Labels that a request sends. */
export const allLabels = computed(() => merge(labels.value, pendingLabel.value));

export const labelFocus = createListFocus();

/** Id of the button that removes the label at an index. */
export function removeButtonId(index: number): string {
  return `remove-label-${index}`;
}

/** Turns the text of the field into labels. Commas and line breaks separate labels. */
export function commitPendingLabel(): void {
  const added = allLabels.value.length - labels.value.length;
  batch(() => {
    labels.value = allLabels.value;
    pendingLabel.value = '';
  });
  if (added > 0) labelFocus.announce(`${plural(added, 'label')} added`);
}

export function removeLabel(label: string): void {
  const index = labels.value.indexOf(label);
  const rest = labels.value.filter((other) => other !== label);
  labels.value = rest;
  labelFocus.moveTo([removeButtonId(Math.min(index, rest.length - 1)), LABEL_INPUT]);
  labelFocus.announce(`${label} removed`);
}

/** Removes the last label and keeps the focus in the text field. */
export function removeLastLabel(): void {
  const last = labels.value.at(-1);
  if (last === undefined) return;
  labels.value = labels.value.slice(0, -1);
  labelFocus.announce(`${last} removed`);
}

function merge(known: readonly string[], text: string): readonly string[] {
  const added = text
    .split(/[,\r\n]/)
    .map((label) => label.trim())
    .filter((label) => label !== '');
  return [...new Set([...known, ...added])];
}
