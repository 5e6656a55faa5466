import type { GapNotice, StreamOpened, WindowResult } from '../../streaming/stream-messages';
import type { StreamResult } from './options';
import type { UnackedBuffer } from './unacked-buffer';

/** Results that the caller has not consumed yet, each of them once. */
export class ReceivedResults {
  readonly #buffer: UnackedBuffer;
  /** `due` is `UnackedBuffer.due` at the arrival of the result. */
  readonly #results: { readonly result: StreamResult; readonly due: number }[] = [];
  /** Number of the server's sample 0: a stream that is opened again counts dates and seconds from 0. */
  offset = 0;
  /** Number of the next window without a result. */
  next: number;
  /** `UnackedBuffer.due` of the last consumed result. */
  consumed = 0;

  constructor(buffer: UnackedBuffer, firstWindow: number) {
    this.#buffer = buffer;
    this.next = firstWindow;
  }

  shift(): StreamResult | undefined {
    const received = this.#results.shift();
    this.consumed = Math.max(this.consumed, received?.due ?? 0);
    return received?.result;
  }

  /** @returns whether the result is new */
  addWindow({ skipped: _, ...result }: WindowResult): boolean {
    const { window } = result;
    const first_sample = result.first_sample + this.offset;
    this.#buffer.acknowledge(window, first_sample);
    // A stream that is opened again starts before the first missing window.
    if (window < this.next) return false;
    const skipped = window - this.next;
    this.next = window + 1;
    this.#add({ ...result, first_sample, ...(skipped > 0 && { skipped }) });
    return true;
  }

  addGap(gap: GapNotice['gap']): void {
    const first_sample = gap.first_sample + this.offset;
    if (this.#buffer.acknowledgeGap(first_sample)) this.#add({ gap: { ...gap, first_sample } });
  }

  /** Continues from the server's cursor. @returns the response with the client's sample numbers */
  resumeFrom(opened: StreamOpened): StreamOpened {
    const next_sample = opened.next_sample + this.offset;
    this.#buffer.rewind(next_sample);
    for (const gap of this.#buffer.takeGapsBefore(next_sample)) this.#add(gap);
    return { ...opened, next_sample };
  }

  #add(result: StreamResult): void {
    this.#results.push({ result, due: this.#buffer.due });
  }
}
