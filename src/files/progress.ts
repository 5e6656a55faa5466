/** Time window of the rate, in ms. */
const RATE_WINDOW_MS = 15_000;
const BAR_INTERVAL_MS = 250;
const LINE_INTERVAL_MS = 5000;
const BAR_WIDTH = 24;

/** Reports progress on standard error: a bar on a terminal, otherwise lines. */
export class ProgressDisplay {
  readonly #stream: NodeJS.WriteStream;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  /** Finished rows at points in time, in ms. */
  readonly #samples: { readonly at: number; readonly rows: number }[] = [];
  #rows = 0;
  #rowsBefore = 0;
  /** Estimated number of rows; null if unknown. */
  #total: number | null = null;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
    const interval = stream.isTTY ? BAR_INTERVAL_MS : LINE_INTERVAL_MS;
    this.#timer = setInterval(() => this.#show(), interval).unref();
  }

  /** @param rows rows that an earlier process has finished */
  resumeFrom(rows: number): void {
    this.#rowsBefore = rows;
    this.#rows = rows;
  }

  /** Counts a row with a prediction or a final error. */
  readonly rowFinished = (): void => {
    this.#rows++;
  };

  /**
   * @param rows number of rows read by this process
   * @param fraction fraction of all inputs that has been read; null if unknown
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
    while (this.#samples.length > 2 && now.at - since.at > RATE_WINDOW_MS) {
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
  /** Rows per second. */
  readonly rate: number;
  readonly hasBar: boolean;
}

export function formatProgress({ rows, total, rate, hasBar }: ProgressState): string {
  const speed = `${formatCount(rows)} rows, ${formatCount(rate)} rows/s`;
  if (total === null || total === 0) return speed;
  // The total is an estimate.
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
