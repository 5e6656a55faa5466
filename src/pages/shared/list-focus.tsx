import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** Keyboard focus and screen reader announcements of a list that the user edits. */
export interface ListFocus {
  /** Focuses the first of these elements that exists and is enabled, after the next render. @param ids in order of preference */
  readonly moveTo: (ids: readonly string[]) => void;
  readonly announce: (text: string) => void;
  /** Invisible live region with the last announcement. Rendered by the component that renders the list. */
  readonly Announcer: () => preact.JSX.Element;
  /** Hook of the component that renders the list. */
  readonly useFocus: () => void;
}

/** Browsers drop the focus when the focused element is removed or moved, so a list sets it explicitly. */
export function createListFocus(): ListFocus {
  const announcement = signal('');
  let targets: readonly string[] = [];
  return {
    moveTo: (ids) => {
      targets = ids;
    },
    announce: (text) => {
      announcement.value = text;
    },
    Announcer: () => (
      <span class="visually-hidden" aria-live="polite">
        {announcement.value}
      </span>
    ),
    useFocus: () => {
      useLayoutEffect(() => {
        const found = targets.map((id) => document.getElementById(id));
        targets = [];
        found.find((element) => element !== null && !element.matches(':disabled'))?.focus();
      });
    },
  };
}
