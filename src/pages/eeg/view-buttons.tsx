import type { ComponentChildren } from 'preact';

/** Button with a sign as its text. */
export interface ViewButton {
  /** Accessible name. */
  readonly label: string;
  readonly sign: string;
  readonly act: () => void;
}

/** Buttons that change the visible part of a signal; `children` precede the button that shows all of it. */
export function ViewButtons({
  label: name,
  buttons,
  onShowAll,
  children,
}: {
  readonly label: string;
  readonly buttons: readonly ViewButton[];
  readonly onShowAll: () => void;
  readonly children?: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of buttons is not a fieldset
    <div class="row tight" role="group" aria-label={name}>
      {buttons.map(({ label, sign, act }) => (
        <button
          key={label}
          type="button"
          class="small"
          aria-label={label}
          title={label}
          onClick={act}
        >
          {sign}
        </button>
      ))}
      {children}
      <button type="button" class="small" onClick={onShowAll}>
        Show all
      </button>
    </div>
  );
}
