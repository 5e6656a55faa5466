import type { RowTask } from '../../src/commands/batch/job';
import { describeSummary, summarize } from '../../src/commands/batch/summary';
import { CLASSIFY } from '../../src/commands/classify/classify-command';
import { formatDuration, formatProgress, ProgressDisplay } from '../../src/files/progress';
import type { Config } from '../../src/settings/config';

/** A stream that keeps what is written. */
function stream(isTTY: boolean) {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  return { written, stream: { isTTY, write } as unknown as NodeJS.WriteStream };
}

describe('the progress', () => {
  it('has a share, a rate and the time that is left; a bar on a terminal', () => {
    const shown = { rows: 25_000, total: 100_000, rate: 1000 };
    expect(formatProgress({ ...shown, hasBar: false })).toBe(
      '25 %, 25,000 rows, 1,000 rows/s, 1:15 left',
    );
    expect(formatProgress({ ...shown, hasBar: true })).toMatch(/^\[#{6}-{18}\] 25 %/);
  });

  it('says what it knows where nobody knows how much there is', () => {
    const shown = { rows: 5, total: null, rate: 2, hasBar: true };
    expect(formatProgress(shown)).toBe('5 rows, 2 rows/s');
  });

  it.each([
    [0, '0:00'],
    [75_000, '1:15'],
    [3_675_000, '1:01:15'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    [true, 250, /^\r\[#{12}-{12}\] 50 %, 10 rows.*\[K$/],
    [false, 5000, /^50 %, 10 rows.*\n$/],
  ])('is shown again and again (terminal: %s)', (isTTY, ms, form) => {
    jest.useFakeTimers();
    try {
      const { written, stream: target } = stream(isTTY);
      const display = new ProgressDisplay(target);
      display.resumeFrom(4);
      for (let i = 0; i < 6; i++) display.rowFinished();
      display.setRowsRead(6, 0.5);
      jest.advanceTimersByTime(ms);
      expect(written).toEqual([expect.stringMatching(form)]);
      display.stop();
      jest.advanceTimersByTime(10 * ms);
      expect(written.length).toBe(isTTY ? 2 : 1);
    } finally {
      jest.useRealTimers();
    }
  });
});

/** As a command line makes it, with no setting of the services. */
function jobOf(args: readonly string[]) {
  const { toJob } = CLASSIFY.read(args);
  return toJob({ scheduling: {} } as Config);
}

describe('the summary', () => {
  const counts = { answered: 3, rejected: 1, truncated: 1, labels: { bad: 1, good: 2 } };
  const outcome = { ...counts, recordings: {}, seconds: 61.23456 };
  const model = { metadata: { name: 'm', version: null } } as RowTask['model'];
  const task = { labels: ['bad', 'good', 'never'], model };
  const summary = (...args: readonly string[]) => summarize(jobOf(args), task, 2, outcome);

  it('counts every label, those of no answer included', () => {
    const { labels, rows, rejects, seconds, notice } = summary('a.csv', '-o', 'x.csv');
    expect(labels).toEqual({ bad: 1, good: 2, never: 0 });
    expect([rows, rejects, seconds, notice]).toEqual([4, 'x.csv.rejects.jsonl', 61.235, undefined]);
  });

  it('tells a person', () => {
    expect(describeSummary(summary('eeg', 'a.edf', '-o', 'x.csv')).split('\n')).toEqual([
      '4 rows in 1:01: 3 answered, 1 rejected, see x.csv.rejects.jsonl',
      '  bad   1 (33.3 %)',
      '  good  2 (66.7 %)',
      '  1 texts were longer than the model takes',
      expect.stringContaining('no medical device'),
      '',
    ]);
  });
});
