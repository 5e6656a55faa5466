import type { WindowResult } from '../../../client';

/** Result of a window at its place in the recording. */
export interface ClassifiedWindow
  extends Pick<WindowResult, 'diagnosis' | 'confidence' | 'probabilities' | 'error'> {
  /** Start and end in seconds. */
  readonly from: number;
  readonly to: number;
  readonly problems: WindowResult['quality']['problems'];
}

/**
 * Index of the window that begins last at or before a time and contains it; null if there is none.
 *
 * @param windows in order of time
 */
export function findWindow(windows: readonly ClassifiedWindow[], seconds: number): number | null {
  let [low, high] = [0, windows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    // Times of samples are rounded.
    if ((windows[middle] as ClassifiedWindow).from <= seconds + 1e-9) low = middle + 1;
    else high = middle;
  }
  const found = windows[low - 1];
  return found && seconds < found.to ? low - 1 : null;
}
