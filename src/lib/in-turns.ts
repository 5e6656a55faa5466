import { setImmediate } from 'node:timers/promises';

/** Time that one piece of work may keep others waiting, in ms. */
const TURN_MS = 5;

/** Work on the event loop that others get their turn in between. */
export class Turns {
  #begun = performance.now();

  /** It has gone on for long enough: `rest` comes next. */
  get isOver(): boolean {
    return performance.now() - this.#begun >= TURN_MS;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.#begun = performance.now();
  }
}

/** As `map`, but others get their turn in between. */
export async function eachInTurn<From, To>(
  list: readonly From[],
  convert: (one: From, index: number) => To,
): Promise<To[]> {
  const converted: To[] = [];
  const turns = new Turns();
  for (const [index, one] of list.entries()) {
    converted.push(convert(one, index));
    if (turns.isOver) await turns.rest();
  }
  return converted;
}
