import { parseCsv } from '../../../src/recordings/csv-recording';
import { RecordingError } from '../../../src/recordings/recording';
import { seededRandom } from '../../helpers/random';

/** What was read, short enough to compare. */
function read(text: string) {
  const { channels, notes } = parseCsv(text, 'x.csv');
  return {
    channels: Object.fromEntries(channels.map(({ label, samples }) => [label, [...samples]])),
    rate: channels[0]?.samplingRateHz,
    units: channels.map(({ unit }) => unit),
    notes,
  };
}

const plain = { rate: null, notes: [] };

describe('parseCsv', () => {
  it.each([
    ['one number a line', '1\n-2.5\n3e1\n'],
    ['Windows and old Mac line ends', '1\r\n-2.5\r\n30'],
    ['blank lines, white space and a byte order mark', '\ufeff\n 1 \n\n -2.5\n30\n\n'],
    ['one line', '1,-2.5,30'],
    ['one line with spaces', '1 -2.5  30'],
    ['a JSON array', '[1, -2.5, 3e1]'],
    ['the body of a request', '{"patient_id": null, "signal": [1, -2.5, 30]}'],
    ['one line with decimal commas', '1;-2,5;30'],
  ])('reads %s', (_name, text) => {
    expect(read(text)).toMatchObject({ ...plain, channels: { 'Channel 1': [1, -2.5, 30] } });
  });

  it.each([
    ['commas', 'T3,T4\n1.5,2\n-3,.5'],
    ['semicolons', 'T3;T4\n1.5;2\n-3;0.5'],
    ['tabs', 'T3\tT4\n1.5\t2\n-3\t0.5'],
    ['spaces', ' T3   T4\n 1.5    2\n -3   0.5'],
    ['decimal commas and semicolons', 'T3;T4\n1,5;2\n-3;0,5'],
    ['decimal commas and tabs', 'T3\tT4\n1,5\t2\n-3\t0,5'],
    ['a semicolon at the end of each line', 'T3;T4;\n1,5;2;\n-3;0,5;'],
    ['quotes', '"T3","T4"\n"1.5","2"\n"-3","0.5"'],
  ])('reads channels with a header and %s', (_name, text) => {
    expect(read(text)).toMatchObject({ ...plain, channels: { T3: [1.5, -3], T4: [2, 0.5] } });
  });

  it('reads channels without a header', () => {
    expect(read('1,2\n-1,4\n5,6').channels).toEqual({
      'Channel 1': [1, -1, 5],
      'Channel 2': [2, 4, 6],
    });
  });

  it('reads a row of units', () => {
    const { channels, units } = read('T3,T4\nuV,mV\n1,2\n3,4');
    expect([channels, units]).toEqual([{ T3: [1, 3], T4: [2, 4] }, ['uV', 'mV']]);
  });

  it.each([
    ['seconds', 'time,T3\n0,1\n0.004,2\n0.008,3', 250],
    ['seconds with a unit', 'Time (s);T3\n0,000;1\n0,004;2\n0,008;3', 250],
    ['milliseconds', 't [ms],T3\n0,1\n4,2\n8,3', 250],
    ['milliseconds without a unit', 'time,T3\n0,1\n4,2\n8,3', 250],
    [
      'time stamps',
      'timestamp,T3\n2024-01-01 00:00:00.000,1\n2024-01-01 00:00:00.004,2\n2024-01-01 00:00:00.008,3',
      250,
    ],
    [
      'few digits',
      `time,T3\n${Array.from({ length: 257 }, (_, i) => `${(i / 256).toFixed(3)},${i}`).join('\n')}`,
      256,
    ],
    ['numbers of samples', 'sample,T3\n0,1\n1,2\n2,3', null],
    [
      'no name',
      `${Array.from({ length: 20 }, (_, i) => `${i * 0.01} ${Math.sin(i)}`).join('\n')}`,
      100,
    ],
  ])('takes a column of %s for time', (_name, text, rate) => {
    const { channels, rate: found } = read(text);
    expect([Object.keys(channels).length, found]).toEqual([1, rate]);
  });

  it('does not take a rising signal for time', () => {
    expect(Object.keys(read('T3,T4\n1,5\n2,6\n3,7').channels)).toEqual(['T3', 'T4']);
    expect(Object.keys(read('1\n2\n3\n4\n5\n6\n7\n8\n9').channels)).toEqual(['Channel 1']);
  });

  it('says that times have gaps, and keeps the rate', () => {
    const { rate, notes } = read('time,T3\n0,1\n0.01,2\n0.02,3\n5,4\n5.01,5');
    expect([rate, notes]).toEqual([100, [expect.stringContaining('gaps')]]);
    const { channels } = parseCsv('ms,T3,O1\n0,1,1\n10,2,\n20,3,\n5000,4,\n5010,5,', 'x.csv');
    expect(channels.map(({ segments }) => segments)).toEqual([
      [
        { firstSample: 0, startSeconds: 0, measuredRateHz: null },
        { firstSample: 3, startSeconds: 5, measuredRateHz: null },
      ],
      [{ firstSample: 0, startSeconds: 0, measuredRateHz: null }],
    ]);
  });

  it('leaves columns of words out, and says so', () => {
    expect(read('T3,event\n1,open\n2,closed\n3,open')).toMatchObject({
      channels: { T3: [1, 2, 3] },
      notes: [expect.stringContaining('event')],
    });
  });

  it('reads a channel that is shorter than its neighbour', () => {
    expect(read('A,B\n1,2\n3,\n4,').channels).toEqual({ A: [1, 3, 4], B: [2] });
  });

  it('warns where commas may be decimal', () => {
    expect(read('12,5\n-3,25\n4,1').notes).toEqual([expect.stringContaining('decimal commas')]);
  });

  it.each([
    ['', /is empty/],
    [' \n\t', /is empty/],
    ['T3,T4', /no row of numbers/],
    ['a,b\nc,d\ne,f', /no column of numbers|no row of numbers/],
    ['T3\n1\n2\nx\n4', /x\.csv, line 4: “T3” is "x", expected a number/],
    ['T3,T4\n1,2\n1,\n3,4', /line 3: “T4” is empty/],
    ['T3\n1\nNaN\n3', /line 3: “T3” is "NaN"/],
    ['T3\n1\n1e400\n3', /line 3/],
    ['T3,T4\n"1,2\n3,4', /x\.csv, line 3: a quote is never closed/],
    ['[1, 2', /not valid JSON/],
    ['[1, "2"]', /element 1/],
    ['[]', /array of numbers/],
    ['{}', /array of numbers/],
  ])('refuses %j and says why', (text, message) => {
    expect(() => parseCsv(text, 'x.csv')).toThrow(RecordingError);
    expect(() => parseCsv(text, 'x.csv')).toThrow(message);
  });

  it('reads or refuses whatever it is given', () => {
    const random = seededRandom(20240601);
    const next = (below: number) => Math.floor(random() * below);
    const letters = '0123456789.,;\t \n\r"-+eE[]{}:aT\u0000\u00e9\ufeff';
    for (let round = 0; round < 3000; round++) {
      const text = Array.from({ length: next(60) }, () => letters[next(letters.length)]).join('');
      try {
        const { channels } = parseCsv(text, 'x.csv');
        expect(
          channels.every(({ samples }) => samples.length > 0 && samples.every(Number.isFinite)),
        ).toBe(true);
      } catch (error) {
        if (!(error instanceof RecordingError))
          throw new Error(`${JSON.stringify(text)}: ${error}`);
      }
    }
  });

  it('reads a long file', () => {
    const text = Array.from({ length: 200_000 }, (_, i) => `${i / 100},${i % 7},${i % 11}`).join(
      '\n',
    );
    const { channels } = parseCsv(text, 'x.csv');
    expect(channels.map(({ samples, samplingRateHz }) => [samples.length, samplingRateHz])).toEqual(
      [
        [200_000, 100],
        [200_000, 100],
      ],
    );
  });
});
