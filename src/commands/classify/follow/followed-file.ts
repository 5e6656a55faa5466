import {
  requireSamplingRate,
  selectChannel,
  unknownSamplingRate,
  type WindowOptions,
} from '../../../files/readers/recording-reader';
import { describeFirstIssue } from '../../../protocols/validation/fields';
import { RecordingError } from '../../../recordings/recording';
import type { StreamModel } from '../../../streaming/stream-host';
import {
  findOptionsProblem,
  type StreamOptions,
  streamOptions,
} from '../../../streaming/stream-messages';
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

/** Lines from which it is learned how a file is written: before its first window is complete, where that can be. */
const LEARN_FROM = { least: 16, most: 1000 };
/** A step of time that is off by more than this share of the usual one may be a gap. */
const UNEVEN = 0.5;
/** Times that say a rate that is off by more are not followed. */
const SAME_RATE = 0.02;

const ANEW = 'it is read from its beginning';
const BEGINS = 'a signal begins there';

export interface FollowedFileOptions {
  /** Of the file, for messages. */
  readonly name: string;
  readonly asked: StreamModel;
  readonly cutting: WindowOptions;
  readonly output: FollowOutput;
  /** Told what a person should know. */
  readonly note: (text: string) => void;
}

/** A file that grows: a stream, or where it is cut or replaced, one after the other. */
export class FollowedFile {
  readonly #following: FollowedFileOptions;
  #lines: SampleRowParser;
  /** Of the file that had the name before. */
  #before: TableFormat | null = null;
  #stream: LocalStream | null = null;
  /** How times are told; null: they are those of the numbers of samples. */
  #clock: SampleColumn['clock'] = null;
  #rate = 0;
  /** When the last sample was taken. */
  #seconds = Number.NaN;
  #nextWindow = 0;
  /** Windows that have an answer. */
  answered = 0;
  /** Windows that have none, and lines without a sample. */
  problems = 0;
  /** `performance.now()` when the model gave an answer last. */
  answeredAt = 0;

  constructor(following: FollowedFileOptions) {
    this.#following = following;
    this.#lines = this.#newLines();
  }

  /** Windows that the model is working on. */
  get inFlight(): number {
    return this.#stream?.inFlight ?? 0;
  }

  /** @throws RecordingError: it is no table of samples */
  async take(growth: FileChange): Promise<void> {
    const { name, note } = this.#following;
    switch (growth.type) {
      case 'bytes':
        return this.#feed(this.#lines.take(growth.bytes));
      case 'missing':
        return note(`${name}: is not there: a file of that name is waited for`);
      case 'cut':
        return this.#beginAnew(`has become shorter: ${ANEW}`);
      case 'replaced':
        return this.#beginAnew(`is another file now: ${ANEW}`);
    }
  }

  /** There is no more. @param isWhole the last line needs no end */
  async end(isWhole: boolean): Promise<void> {
    try {
      await this.#feed(this.#lines.end(isWhole));
    } catch (error) {
      // A file that was left before it had enough is none that could not be read.
      if (isWhole || !(error instanceof RecordingError)) throw error;
      this.#tell(null, error.message);
    }
    await this.#endStream();
  }

  /** Nothing is written any more. */
  stop(): void {
    this.#stream?.close();
  }

  /** What was written has gone out. */
  drained(): void {
    this.#stream?.proceed();
  }

  async #beginAnew(detail: string): Promise<void> {
    const { hasPart } = this.#lines;
    await this.end(false);
    if (hasPart) this.#tell(null, 'the last line has no end: it is left out');
    this.#tell(null, detail);
    this.#before = this.#lines.learned ?? this.#before;
    this.#lines = this.#newLines();
  }

  #newLines(): SampleRowParser {
    const { name, asked, cutting } = this.#following;
    const { settings } = asked;
    const { least, most } = LEARN_FROM;
    return new SampleRowParser({
      name,
      learnFrom: Math.min(most, Math.max(least, settings.windowLength)),
      choose: (channels, unreadable) =>
        selectChannel({ name, channels, unreadable }, { model: settings, options: cutting }),
      before: this.#before,
    });
  }

  async #feed(lines: readonly SampleRow[]): Promise<void> {
    if (lines.length === 0) return;
    if (this.#stream === null) this.#learn();
    let from = 0;
    for (const [index, read] of lines.entries()) {
      const line = this.#inRange(read);
      if (line.problem !== null) this.#tell(line.line, line.problem);
      if (index === 0 || this.#isUneven(line)) {
        this.#put(lines.slice(from, index));
        await this.#goTo(line);
        from = index;
      }
      this.#seconds = line.seconds ?? this.#seconds + 1 / this.#rate;
    }
    this.#put(lines.slice(from));
    await this.#stream?.whenAccepting();
  }

  /** @throws RecordingError: its clock ends */
  #put(lines: readonly SampleRow[]): void {
    try {
      this.#stream?.push(Float64Array.from(lines, ({ sample }) => sample));
    } catch (error) {
      if (!(error instanceof PositionError)) throw error;
      throw new RecordingError(`${this.#following.name}, line ${lines[0]?.line}: ${error.message}`);
    }
  }

  /** A time that no clock has is none. */
  #inRange(line: SampleRow): SampleRow {
    const position = this.#positionOf(line);
    if (position === null || isInRange(position)) return line;
    return { ...line, seconds: null, problem: line.problem ?? 'its time is beyond all clocks' };
  }

  #isUneven({ seconds }: SampleRow): boolean {
    if (this.#clock === null || seconds === null) return false;
    return Math.abs((seconds - this.#seconds) * this.#rate - 1) > UNEVEN;
  }

  /** The next sample is that of this line: a gap is seen, and a time that goes back begins anew. */
  async #goTo(line: SampleRow): Promise<void> {
    const position = this.#positionOf(line);
    this.#stream ??= this.#open(line);
    if (position === null) return;
    try {
      this.#stream.setPosition(position);
    } catch (error) {
      if (!(error instanceof PositionError)) throw error;
      await this.#endStream();
      this.#tell(
        line.line,
        `the time ${error.isBackward ? 'goes back' : 'goes too far'}: ${BEGINS}`,
      );
      this.#stream = this.#open(line);
    }
  }

  /** Null: nothing says it. */
  #positionOf({ seconds }: SampleRow): SamplePosition | null {
    return this.#clock === null || seconds === null ? null : { type: this.#clock, seconds };
  }

  /** @throws RecordingError: it cannot be known how it is to be cut into windows */
  #open(line: SampleRow): LocalStream {
    const { name, asked, cutting, output } = this.#following;
    const parsed = streamOptions.safeParse({
      sampling_rate_hz: this.#rate,
      ...(cutting.step !== null && { step: cutting.step }),
      first_window: this.#nextWindow,
    });
    const problem = parsed.success
      ? findOptionsProblem(parsed.data, asked.settings)
      : describeFirstIssue(parsed.error);
    if (problem !== null) throw new RecordingError(`${name}: ${problem}`);
    const first = parsed.data as StreamOptions;
    const start = this.#positionOf(line) ?? first.start;
    return new LocalStream(asked, { ...first, start }, output, {
      completed: () => this.#count(true),
      count: () => this.#count(false),
    });
  }

  /** @throws RecordingError: the rate is not known, or not to be resampled */
  #learn(): void {
    const { name, asked, cutting, note } = this.#following;
    const { column } = this.#lines.learned as TableFormat;
    const { label, samplingRateHz: said, clock, notes } = column;
    const rate = cutting.samplingRate ?? said;
    if (rate === null) throw unknownSamplingRate(name);
    requireSamplingRate(name, rate, { model: asked.settings, options: cutting });
    this.#rate = rate;
    this.#clock = said !== null && Math.abs(said / rate - 1) <= SAME_RATE ? clock : null;
    for (const one of notes) note(`${name}: ${one}`);
    note(`${name}: “${label}”, ${rate} Hz${this.#clock === null ? '' : ', with its times'}`);
    if (said === null || this.#clock !== null) return;
    note(`${name}: its times say ${said} Hz, and are not followed`);
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

  /** In the output, where it belongs. @param line null: of the file */
  #tell(line: number | null, detail: string): void {
    const { name, output } = this.#following;
    if (line !== null) this.problems++;
    output.write(JSON.stringify({ error: { file: name, line, detail } }));
  }
}
