/** How far a download is: a bar on a terminal, else a line for each tenth. */
const MEGABYTE = 1e6;
const WIDTH = 30;
const REDRAW_MS = 100;

export class Progress {
  #total;
  #stream;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #tenths = 0;
  #first;

  /** @param total bytes; @param stream where to write */
  constructor(total, stream = process.stderr) {
    this.#total = total;
    this.#stream = stream;
  }

  /** @param bytes that are there, of all files together */
  report(bytes) {
    const now = performance.now();
    this.#first ??= { now, bytes };
    if (this.#stream.isTTY) this.#draw(bytes, now);
    else this.#print(bytes);
  }

  /** Something else is to be said, on a line of its own. */
  say(line) {
    this.#stream.write(`${this.#stream.isTTY ? '\r\x1b[K' : ''}${line}\n`);
  }

  #draw(bytes, now) {
    if (now - this.#drawnAt < REDRAW_MS && bytes < this.#total) return;
    this.#drawnAt = now;
    const part = Math.min(1, bytes / this.#total);
    const bar = '█'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '░');
    const perSecond = ((bytes - this.#first.bytes) * 1000) / (now - this.#first.now);
    const left = perSecond > 0 ? `, ${Math.ceil((this.#total - bytes) / perSecond)} s left` : '';
    this.#stream.write(`\r\x1b[K${bar} ${this.#words(bytes)}${left}${part === 1 ? '\n' : ''}`);
  }

  #print(bytes) {
    const tenths = Math.floor((bytes / this.#total) * 10);
    if (tenths <= this.#tenths) return;
    this.#tenths = tenths;
    this.#stream.write(`LibTorch: ${this.#words(bytes)}\n`);
  }

  #words(bytes) {
    const percent = Math.floor((bytes / this.#total) * 100);
    return `${Math.floor(bytes / MEGABYTE)} of ${Math.ceil(this.#total / MEGABYTE)} MB (${percent} %)`;
  }
}
