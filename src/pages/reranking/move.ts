const MOVE = { duration: 450, easing: 'cubic-bezier(0.3, 0, 0.2, 1)' };

/**
 * Lets the elements of a list move to where they are, from where they were in another order. Who asks for
 * less motion sees none.
 *
 * @param before the place of each in that order
 */
export function moveFrom(items: readonly HTMLElement[], before: readonly number[]): void {
  const [first] = items;
  if (!first || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const space = items[1] ? items[1].offsetTop - first.offsetTop - first.offsetHeight : 0;
  const entered = [...items.keys()].sort((a, b) => (before[a] ?? 0) - (before[b] ?? 0));
  let top = first.offsetTop;
  for (const place of entered) {
    const item = items[place] as HTMLElement;
    const from = `translateY(${top - item.offsetTop}px)`;
    item.animate([{ transform: from }, { transform: 'none' }], MOVE);
    top += item.offsetHeight + space;
  }
}
