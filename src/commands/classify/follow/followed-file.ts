import {
  requireSamplingRate,
  selectChannel,
  unknownSamplingRate,
  type WindowOptions,
} from '../../../files/readers/recording-reader';
import { describeFirstIssue } from '../../../protocols/validation/fields';
import { RecordingError } from '../../../recordings/recording';
import type { StreamModel } from '../../../streaming/stream-host';
import { type StreamOptions, streamOptions } from '../../../streaming/stream-messages';
import { findOptionsProblem } from '../../../streaming/stream-options';
import { isInRange, PositionError, type SamplePosition } from '../../../streaming/timeline';
import type { FollowOutput } from './follow-output';
import { LocalStream } from './local-stream';
import {
  type SampleColumn,
  type SampleRow,
  SampleRowParser,
  type TableFormat,
} from './sample-row-parser';
import type { FileChange } from './tail-file';

/** Range of the number of lines from which the format is detected: if possible before the first window. */
const DETECTION_LINES = { min: 16, max: 1000 };
/** Relative difference from the usual step between two times that can be a gap. */
const UNEVEN = 0.5;
/** Maximum relative difference of --sampling-rate and the rate of the times; above, the times are ignored. */
const SAME_RATE = 0.02;

const RESTART = 'reading it from the start';
const NEW_SIGNAL = 'a new signal starts here';

export interface FollowedFileOptions {
  /** File name for messages. */
  readonly name: string;
  readonly model: StreamModel;
  readonly cutting: WindowOptions;
  readonly output: FollowOutput;
  /** Prints a note for the user. */
  readonly note: (text: string) => void;
}

/** Classifies a growing file: one stream, and a new stream after the file is truncated or replaced. */
export class FollowedFile {
  readonly #options: FollowedFileOptions;
  #parser: SampleRowParser;
  /** Format of the previous file of this name. */
  #previousFormat: TableFormat | null = null;
  #stream: LocalStream | null = null;
  /** Format of times; null if times follow from the numbers of samples. */
  #clock: SampleColumn['clock'] = null;
  /** Hz. */
  #rate = 0;
  /** Time of the last sample in seconds. */
  #seconds = Number.NaN;
  #nextWindow = 0;
  /** Number of windows with a prediction. */
  answered = 0;
  /** Number of windows without a prediction and of lines without a sample. */
  problems = 0;
  /** `performance.now()` at the last result. */
  answeredAt = 0;

  constructor(options: FollowedFileOptions) {
    this.#options = options;
    this.#parser = this.#newParser();
  }

  /** Number of windows in inference. */
  get inFlight(): number {
    return this.#stream?.inFlight ?? 0;
  }

  /** @throws RecordingError: the file is not a table of samples */
  async take(change: FileChange): Promise<void> {
    const { name, note } = this.#options;
    switch (change.type) {
      case 'bytes':
        return this.#feed(this.#parser.push(change.bytes));
      case 'missing':
        return note(`${name}: does not exist, waiting for it`);
      case 'truncated':
        return this.#restart(`the file was truncated, ${RESTART}`);
      case 'replaced':
        return this.#restart(`the file was replaced, ${RESTART}`);
    }
  }

  /** Ends the file. @param isComplete whether the last line is complete without a line break */
  async end(isComplete: boolean): Promise<void> {
    try {
      await this.#feed(this.#parser.end(isComplete));
    } catch (error) {
      // A file that is too short to detect its format is an error only at the end of the input.
      if (isComplete || !(error instanceof RecordingError)) throw error;
      this.#writeError(null, error.message);
    }
    await this.#endStream();
  }

  stop(): void {
    this.#stream?.close();
  }

  /** Continues after the output was written. */
  onDrain(): void {
    this.#stream?.proceed();
  }

  async #restart(detail: string): Promise<void> {
    const { hasIncompleteLine } = this.#parser;
    await this.end(false);
    if (hasIncompleteLine) this.#writeError(null, 'the last line is incomplete and was skipped');
    this.#writeError(null, detail);
    this.#previousFormat = this.#parser.format ?? this.#previousFormat;
    this.#parser = this.#newParser();
  }

  #newParser(): SampleRowParser {
    const { name, model, cutting } = this.#options;
    const { settings } = model;
    const { min, max } = DETECTION_LINES;
    return new SampleRowParser({
      name,
      detectionLines: Math.min(max, Math.max(min, settings.windowLength)),
      choose: (channels, unreadable) =>
        selectChannel({ name, channels, unreadable }, { model: settings, options: cutting }),
      previousFormat: this.#previousFormat,
    });
  }

  async #feed(lines: readonly SampleRow[]): Promise<void> {
    if (lines.length === 0) return;
    if (this.#stream === null) this.#readFormat();
    let from = 0;
    for (const [index, read] of lines.entries()) {
      const line = this.#inRange(read);
      if (line.problem !== null) this.#writeError(line.line, line.problem);
      if (index === 0 || this.#isUneven(line)) {
        this.#push(lines.slice(from, index));
        await this.#setPosition(line);
        from = index;
      }
      this.#seconds = line.seconds ?? this.#seconds + 1 / this.#rate;
    }
    this.#push(lines.slice(from));
    await this.#stream?.whenAccepting();
  }

  /** @throws RecordingError: the range of times ends */
  #push(lines: readonly SampleRow[]): void {
    try {
      this.#stream?.push(Float64Array.from(lines, ({ sample }) => sample));
    } catch (error) {
      if (!(error instanceof PositionError)) throw error;
      throw new RecordingError(`${this.#options.name}, line ${lines[0]?.line}: ${error.message}`);
    }
  }

  /** Removes a time that is out of range. */
  #inRange(line: SampleRow): SampleRow {
    const position = this.#positionOf(line);
    if (position === null || isInRange(position)) return line;
    return { ...line, seconds: null, problem: line.problem ?? 'the time is out of range' };
  }

  #isUneven({ seconds }: SampleRow): boolean {
    if (this.#clock === null || seconds === null) return false;
    return Math.abs((seconds - this.#seconds) * this.#rate - 1) > UNEVEN;
  }

  /** Sets the position of a line, which can be after a gap. A backward time starts a new stream. */
  async #setPosition(line: SampleRow): Promise<void> {
    const position = this.#positionOf(line);
    this.#stream ??= this.#open(line);
    if (position === null) return;
    try {
      this.#stream.setPosition(position);
    } catch (error) {
      if (!(error instanceof PositionError)) throw error;
      await this.#endStream();
      this.#writeError(
        line.line,
        `the time ${error.isBackward ? 'goes back' : 'is out of range'}: ${NEW_SIGNAL}`,
      );
      this.#stream = this.#open(line);
    }
  }

  /** Position of a line; null without a time. */
  #positionOf({ seconds }: SampleRow): SamplePosition | null {
    return this.#clock === null || seconds === null ? null : { type: this.#clock, seconds };
  }

  /** @throws RecordingError: an option is invalid */
  #open(line: SampleRow): LocalStream {
    const { name, model, cutting, output } = this.#options;
    const parsed = streamOptions.safeParse({
      sampling_rate_hz: this.#rate,
      ...(cutting.step !== null && { step: cutting.step }),
      first_window: this.#nextWindow,
    });
    const problem = parsed.success
      ? findOptionsProblem(parsed.data, model.settings)
      : describeFirstIssue(parsed.error);
    if (problem !== null) throw new RecordingError(`${name}: ${problem}`);
    const first = parsed.data as StreamOptions;
    const start = this.#positionOf(line) ?? first.start;
    return new LocalStream(model, { ...first, start }, output, {
      completed: () => this.#count(true),
      count: () => this.#count(false),
    });
  }

  /** @throws RecordingError: the sampling rate is unknown, or resampling is not allowed */
  #readFormat(): void {
    const { name, model, cutting, note } = this.#options;
    const { column } = this.#parser.format as TableFormat;
    const { label, samplingRateHz: fileRate, clock, notes } = column;
    const rate = cutting.samplingRate ?? fileRate;
    if (rate === null) throw unknownSamplingRate(name);
    requireSamplingRate(name, rate, { model: model.settings, options: cutting });
    this.#rate = rate;
    this.#clock = fileRate !== null && Math.abs(fileRate / rate - 1) <= SAME_RATE ? clock : null;
    for (const text of notes) note(`${name}: ${text}`);
    note(`${name}: “${label}”, ${rate} Hz${this.#clock === null ? '' : ', with its times'}`);
    if (fileRate === null || this.#clock !== null) return;
    note(`${name}: the time column implies ${fileRate} Hz and is ignored`);
  }

  #count(isAnswered: boolean): void {
    this.answeredAt = performance.now();
    if (isAnswered) this.answered++;
    else this.problems++;
  }

  async #endStream(): Promise<void> {
    if (this.#stream === null) return;
    this.#nextWindow = await this.#stream.end();
    this.#stream = null;
  }

  /** Writes an error to the output. @param line null for an error of the file */
  #writeError(line: number | null, detail: string): void {
    const { name, output } = this.#options;
    if (line !== null) this.problems++;
    output.write(JSON.stringify({ error: { file: name, line, detail } }));
  }
}
