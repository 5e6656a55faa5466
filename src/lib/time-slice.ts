import { setImmediate } from 'node:timers/promises';

/** Time that one piece of work may keep others waiting, in ms. */
const TURN_MS = 5;

/** Work on the event loop that others get their turn in between. */
export class TimeSlice {
  #begun = performance.now();

  /** It has gone on for long enough: `rest` comes next. */
  get isExpired(): boolean {
    return performance.now() - this.#begun >= TURN_MS;
  }

  async yieldToEventLoop(): Promise<void> {
    await setImmediate();
    this.#begun = performance.now();
  }
}

/** As `map`, but others get their turn in between. */
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
