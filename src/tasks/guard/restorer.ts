import { type Redacted, restore } from './redaction';

/** Gives back what placeholders stand for, in a text that comes in pieces, which may cut them anywhere. */
export class Restorer {
  readonly #map: Redacted['map'];
  readonly #longest: number;
  /** What may be the beginning of a placeholder. */
  #held = '';

  constructor(map: Redacted['map']) {
    this.#map = map;
    this.#longest = Math.max(0, ...Object.keys(map).map(({ length }) => length));
  }

  /** @returns what can be passed on: all but the beginning of a placeholder, which is shorter than the longest of them */
  push(piece: string): string {
    const text = this.#held + piece;
    const open = text.lastIndexOf('<');
    const isHeld =
      open >= 0 && text.length - open < this.#longest && /^<[A-Z0-9_]*$/.test(text.slice(open));
    const end = isHeld ? open : text.length;
    this.#held = text.slice(end);
    return restore(text.slice(0, end), this.#map);
  }

  /** @returns what is left when nothing follows */
  end(): string {
    const text = this.#held;
    this.#held = '';
    return text;
  }
}
