import { run } from './run-windows';
import { extent } from './traces';
import { changeScale, cursor, moveCursor, scrollBy, showView, view, zoom } from './view-state';

/** Maximum pointer movement of a click, in pixels. */
const CLICK_PIXELS = 4;
/** Steps of the cursor in the visible time. */
const CURSOR_STEPS = 50;

/** Keys of the plot. */
export function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const act = actions[event.key];
  if (!act) return;
  event.preventDefault();
  act(event.shiftKey);
}

const actions: Readonly<Record<string, (isLarge: boolean) => void>> = {
  ArrowLeft: (isLarge) => stepCursor(-1, isLarge),
  ArrowRight: (isLarge) => stepCursor(1, isLarge),
  ArrowUp: () => zoom(1),
  ArrowDown: () => zoom(-1),
  PageUp: () => turnPage(-1),
  PageDown: () => turnPage(1),
  Home: () => moveCursor(extent.value?.from ?? 0),
  End: () => moveCursor(extent.value?.to ?? 0),
  // A larger amplitude per division makes the signals smaller.
  '+': () => changeScale(-1),
  '=': () => changeScale(-1),
  '-': () => changeScale(1),
};

/** @param isLarge by a window instead of a share of the visible time */
function stepCursor(direction: 1 | -1, isLarge: boolean): void {
  const step = isLarge && run.value ? run.value.step : view.value.seconds / CURSOR_STEPS;
  moveCursor(cursor.value + direction * step);
}

/** Scrolls by the visible time; the cursor keeps its place in the view. */
function turnPage(direction: 1 | -1): void {
  const before = view.value.from;
  scrollBy(direction);
  const moved = view.value.from - before;
  const { seconds } = view.value;
  moveCursor(cursor.value + (moved === 0 ? direction * seconds : moved));
}

/**
 * Pointer and wheel: a click moves the cursor, dragging scrolls, and the wheel scrolls with Shift and zooms with Ctrl.
 * Without them, the wheel scrolls the page.
 *
 * @returns removes the listeners
 */
export function listen(canvas: HTMLCanvasElement): () => void {
  const controller = new AbortController();
  const options = { signal: controller.signal };
  const secondsPerPixel = () => view.value.seconds / Math.max(1, canvas.clientWidth);
  const timeAt = ({ clientX }: MouseEvent) =>
    view.value.from + (clientX - canvas.getBoundingClientRect().left) * secondsPerPixel();
  let pressed: { readonly x: number; readonly from: number } | null = null;
  canvas.addEventListener(
    'pointerdown',
    (event) => {
      if (event.button !== 0) return;
      pressed = { x: event.clientX, from: view.value.from };
      canvas.setPointerCapture(event.pointerId);
    },
    options,
  );
  canvas.addEventListener(
    'pointermove',
    (event) => {
      if (!pressed || Math.abs(event.clientX - pressed.x) <= CLICK_PIXELS) return;
      const from = pressed.from - (event.clientX - pressed.x) * secondsPerPixel();
      showView({ ...view.value, from });
    },
    options,
  );
  canvas.addEventListener(
    'pointerup',
    (event) => {
      if (pressed && Math.abs(event.clientX - pressed.x) <= CLICK_PIXELS) moveCursor(timeAt(event));
      pressed = null;
    },
    options,
  );
  canvas.addEventListener(
    'pointercancel',
    () => {
      pressed = null;
    },
    options,
  );
  canvas.addEventListener(
    'wheel',
    (event) => {
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      // Browsers report a pinch as a wheel event with Ctrl.
      if (event.ctrlKey) zoom(event.deltaY < 0 ? 1 : -1, timeAt(event));
      else if (event.shiftKey || isSideways) {
        const pixels = isSideways ? event.deltaX : event.deltaY;
        showView({ ...view.value, from: view.value.from + pixels * secondsPerPixel() });
      } else return;
      event.preventDefault();
    },
    { ...options, passive: false },
  );
  return () => controller.abort();
}
