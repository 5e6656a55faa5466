import type { ComponentChildren } from 'preact';

interface ScrollerProps {
  readonly label: string;
  readonly children: ComponentChildren;
}

/** Scrollable region for content that may exceed the width or height available. */
export function Scroller({ label, children }: ScrollerProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section class="scroller" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

export interface Column {
  readonly name: string;
  readonly isNumber?: boolean;
}

/** Header row of a table. */
export function TableHead({ columns }: { readonly columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map(({ name, isNumber }) => (
          <th key={name} scope="col" class={isNumber ? 'number' : ''}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
