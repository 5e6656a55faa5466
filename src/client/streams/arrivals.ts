import type { GapNotice, StreamOpened, WindowResult } from '../../streaming/stream-messages';
import type { StreamResult } from './options';
import type { UnackedBuffer } from './unacked-buffer';

interface Came {
  readonly answer: StreamResult;
  /** `Said.due` when it came. */
  readonly due: number;
}

/** Answers that have come, each of them once, and have not been consumed. */
export class Arrivals {
  readonly #said: UnackedBuffer;
  readonly #answers: Came[] = [];
  /** Samples before the one that is the service's first one. */
  offset = 0;
  /** The next window that has not come. */
  next: number;
  /** `Said.due`, as far as what came has been consumed. */
  consumed = 0;

  constructor(said: UnackedBuffer, firstWindow: number) {
    this.#said = said;
    this.next = firstWindow;
  }

  shift(): StreamResult | undefined {
    const came = this.#answers.shift();
    this.consumed = Math.max(this.consumed, came?.due ?? 0);
    return came?.answer;
  }

  /** @returns whether it is a new one */
  addWindow({ skipped: _, ...answer }: WindowResult): boolean {
    const { window } = answer;
    const first_sample = answer.first_sample + this.offset;
    this.#said.windowCame(window, first_sample);
    // A stream that was opened anew begins before what is to come.
    if (window < this.next) return false;
    const skipped = window - this.next;
    this.next = window + 1;
    this.#add({ ...answer, first_sample, ...(skipped > 0 && { skipped }) });
    return true;
  }

  addGap(gap: GapNotice['gap']): void {
    const first_sample = gap.first_sample + this.offset;
    if (this.#said.gapCame(first_sample)) this.#add({ gap: { ...gap, first_sample } });
  }

  /** The service goes on from there. @returns the same, with the sample's own number */
  goOn(opened: StreamOpened): StreamOpened {
    const next_sample = opened.next_sample + this.offset;
    this.#said.rewind(next_sample);
    for (const answer of this.#said.untoldBefore(next_sample)) this.#add(answer);
    return { ...opened, next_sample };
  }

  #add(answer: StreamResult): void {
    this.#answers.push({ answer, due: this.#said.due });
  }
}
