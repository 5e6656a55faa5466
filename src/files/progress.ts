/** Over which the rate is taken, in ms. */
const RATE_OVER_MS = 15_000;
const BAR_EVERY_MS = 250;
const LINE_EVERY_MS = 5000;
const BAR_WIDTH = 24;

/** Says on standard error how far a run has come: a bar on a terminal, lines elsewhere. */
export class ProgressDisplay {
  readonly #stream: NodeJS.WriteStream;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  /** When, in ms, so many rows were done. */
  readonly #samples: { readonly at: number; readonly rows: number }[] = [];
  #rows = 0;
  #rowsBefore = 0;
  /** Of all rows, as far as what has been read tells; null: nobody knows. */
  #total: number | null = null;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
    const every = stream.isTTY ? BAR_EVERY_MS : LINE_EVERY_MS;
    this.#timer = setInterval(() => this.#show(), every).unref();
  }

  /** @param rows that a run of before has done */
  resumeFrom(rows: number): void {
    this.#rowsBefore = rows;
    this.#rows = rows;
  }

  /** One more row has its answer, or has none for good. */
  readonly rowFinished = (): void => {
    this.#rows++;
  };

  /**
   * @param rows that have been read in this process
   * @param fraction of all inputs, what has been read
   */
  setRowsRead(rows: number, fraction: number | null): void {
    this.#total = fraction ? Math.round((this.#rowsBefore + rows) / fraction) : null;
  }

  stop(): void {
    clearInterval(this.#timer);
    if (this.#stream.isTTY) this.#stream.write('\r\x1b[K');
  }

  #show(): void {
    const now = { at: performance.now(), rows: this.#rows };
    let since = this.#samples[0] ?? { at: this.#startedAt, rows: this.#rowsBefore };
    this.#samples.push(now);
    while (this.#samples.length > 2 && now.at - since.at > RATE_OVER_MS) {
      this.#samples.shift();
      since = this.#samples[0] as typeof now;
    }
    const rate = ((now.rows - since.rows) / Math.max(1, now.at - since.at)) * 1000;
    const isBar = this.#stream.isTTY;
    const line = formatProgress({ rows: this.#rows, total: this.#total, rate, hasBar: isBar });
    this.#stream.write(isBar ? `\r${line}\x1b[K` : `${line}\n`);
  }
}

export interface ProgressState {
  readonly rows: number;
  readonly total: number | null;
  /** Rows a second. */
  readonly rate: number;
  readonly hasBar: boolean;
}

export function formatProgress({ rows, total, rate, hasBar }: ProgressState): string {
  const speed = `${formatCount(rows)} rows, ${formatCount(rate)} a second`;
  if (total === null || total === 0) return speed;
  // What has been read says it nearly, not quite.
  const done = Math.min(1, rows / total);
  const left =
    rate > 0 ? `, ${formatDuration((Math.max(0, total - rows) / rate) * 1000)} left` : '';
  const filled = Math.round(done * BAR_WIDTH);
  const bar = hasBar ? `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ` : '';
  return `${bar}${Math.floor(done * 100)} %, ${speed}${left}`;
}

export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** 75,000 ms → "1:15"; with hours "1:01:15". */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}
