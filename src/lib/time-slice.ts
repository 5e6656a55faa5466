import { setImmediate } from 'node:timers/promises';

/** Maximum time that a task blocks the event loop, in ms. */
const TURN_MS = 5;

/** Time slice of a long task that shares the event loop. */
export class TimeSlice {
  #begun = performance.now();

  /** Whether the task must call `yieldToEventLoop`. */
  get isExpired(): boolean {
    return performance.now() - this.#begun >= TURN_MS;
  }

  async yieldToEventLoop(): Promise<void> {
    await setImmediate();
    this.#begun = performance.now();
  }
}

/** `Array.map` that yields to the event loop between time slices. */
export async function mapInTimeSlices<From, To>(
  list: readonly From[],
  convert: (one: From, index: number) => To,
): Promise<To[]> {
  const converted: To[] = [];
  const turns = new TimeSlice();
  for (const [index, one] of list.entries()) {
    converted.push(convert(one, index));
    if (turns.isExpired) await turns.yieldToEventLoop();
  }
  return converted;
}
