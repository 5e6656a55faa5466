/** `libtorch-serve decide`: the answers of POST /decide, into files. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Folder } from '../helpers/files';
import { readFixture } from '../helpers/golden';
import { modelWith } from '../helpers/model-folder';
import { FIXTURES } from '../helpers/service';
import { jsonLines, overFiles } from './command';

/** Half a unit of the fourth decimal, and the difference to transformers. */
const TOLERANCE = 0.5e-4 + 1e-5;

interface Answer {
  readonly name: string | null;
  readonly type: string;
  readonly probability?: number;
  readonly choice?: string;
  readonly probabilities?: readonly (number | { readonly label: string; probability: number })[];
  readonly truncated: boolean;
}
interface Row {
  readonly answers: readonly Answer[];
  readonly truncated: boolean;
}

const { cases, questions } = readFixture<{
  readonly cases: readonly {
    readonly model: string;
    readonly config: object;
    readonly requests: readonly {
      readonly state: string;
      readonly side: 'left' | 'right';
      readonly answers: readonly {
        readonly probabilities: readonly number[];
        readonly truncated: boolean;
      }[];
    }[];
  }[];
  readonly questions: readonly object[];
}>('decisions.json');
const [nli] = cases as [(typeof cases)[number]];

const folder = new Folder();
const model = ['--model', modelWith(folder, nli.model, { 'config.json': nli.config })];
const inFolder = (name: string): string => path.join(folder.path, name);
const run = (...args: readonly string[]) =>
  overFiles(['decide', ...model, ...args, '--overwrite'], { cwd: folder.path });
const lines = <Line = Row>(name: string): readonly Line[] =>
  readFileSync(inFolder(name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const write = (name: string, content: string): void => writeFileSync(inFolder(name), content);

const RAINS = { type: 'predicate', name: 'rain', instructions: 'It rains.' };
const TOPIC = { type: 'choice', name: 'topic', options: ['film', 'sports'] };
write('rains.json', JSON.stringify([RAINS]));

afterAll(() => folder.remove());

it.each(['left', 'right'] as const)('has the probabilities of transformers: %s', async (side) => {
  const asked = nli.requests.filter((one) => one.side === side);
  expect(asked.length).toBeGreaterThan(1);
  write('states.jsonl', jsonLines(asked.map(({ state }, id) => ({ id, state }))));
  write('all.json', JSON.stringify(questions));
  const { code, stderr } = await run(
    ...['states.jsonl', '--questions', 'all.json', '--truncation-side', side],
    ...['-o', 'answers.jsonl'],
  );
  expect([code, stderr]).toEqual([0, expect.stringContaining('answered')]);
  for (const [index, row] of lines('answers.jsonl').entries()) {
    const golden = asked[index]?.answers ?? [];
    expect(row).toMatchObject({ id: index, state: asked[index]?.state });
    expect(row.truncated).toBe(golden.some(({ truncated }) => truncated));
    expect(row.answers).toHaveLength(golden.length);
    for (const [place, { probability, probabilities, truncated }] of row.answers.entries()) {
      const expected = golden[place] as (typeof golden)[number];
      const found = probabilities?.map((one) => (typeof one === 'number' ? one : one.probability));
      const values = found ?? [1 - (probability ?? 2), probability ?? 2];
      expect(truncated).toBe(expected.truncated);
      expect(values).toHaveLength(expected.probabilities.length);
      for (const [option, value] of values.entries()) {
        const difference = Math.abs(value - (expected.probabilities[option] ?? 2));
        expect(difference).toBeLessThanOrEqual(TOLERANCE);
      }
    }
  }
});

it('reads JSON as Python prints it, also in questions, and truncates arrays at the left', async () => {
  const json = '{"b": 1.0, "2": 1e-05, "1": [true, null, "é"]}';
  const long = `["${'first turn '.repeat(60)}", "It rains."]`;
  const rows = [
    `{"state": ${json}}`,
    JSON.stringify({ state: json }),
    `{"state": ${long}}`,
    JSON.stringify({ state: long }),
    '{"state": "a", "questions": [{"type": "predicate", "instructions": {"a": 1.0}}]}',
    JSON.stringify({
      state: 'a',
      questions: [{ type: 'predicate', instructions: '{"a": 1.0}' }],
    }),
  ];
  write('json.jsonl', `${rows.join('\n')}\n`);
  const asked = ['json.jsonl', '--questions', 'rains.json', '--questions-column', 'questions'];
  // Numbers keep their digits if the output copies lines, and if it does not.
  for (const keep of ['all', 'none']) {
    expect((await run(...asked, '-o', 'json-out.jsonl', '--keep', keep)).code).toBe(0);
    const found = lines('json-out.jsonl').map(({ answers }) => answers);
    expect(found[0]).toEqual(found[1]);
    expect(found[4]).toEqual(found[5]);
    expect([found[2], found[3]].map((one) => one?.[0]?.truncated)).toEqual([true, true]);
    expect(found[2]).not.toEqual(found[3]);
  }
  await run(...asked, '--truncation-side', 'right', '-o', 'right.jsonl');
  const [, , array, text] = lines('right.jsonl');
  expect(array?.answers).toEqual(text?.answers);
});

it('takes the questions of each row, of columns of other names, and counts choices', async () => {
  const cells = JSON.stringify(JSON.stringify([TOPIC]))
    .slice(1, -1)
    .replaceAll('\\"', '""');
  write('rows.csv', `id,body,asked\n7,A film.,"${cells}"\n8,Rain.,\n`);
  const args = ['rows.csv', '--state-column', 'body', '--questions-column', 'asked'];
  const kept = ['--keep', 'id', '--questions', 'rains.json', '--summary', 'sum.json'];
  expect((await run(...args, ...kept, '-o', 'rows.parquet')).code).toBe(0);
  const { parquetReadObjects, asyncBufferFromFile } = await import('hyparquet');
  const file = await asyncBufferFromFile(inFolder('rows.parquet'));
  const [first, second] = (await parquetReadObjects({ file })) as { id: bigint; answers: string }[];
  const [topic] = JSON.parse(first?.answers ?? '') as readonly [Answer];
  const [rain] = JSON.parse(second?.answers ?? '') as readonly [Answer];
  expect([topic.name, rain.name]).toEqual(['topic', 'rain']);
  const { labels, answered } = JSON.parse(readFileSync(inFolder('sum.json'), 'utf8'));
  expect([labels, answered]).toEqual([{ [`topic: ${topic.choice}`]: 1 }, 2]);

  const without = await run(...args, '-o', 'rows.csv.out', '--output-format', 'csv');
  expect([without.code, lines<object>('rows.csv.out.rejects.jsonl')]).toEqual([
    4,
    [{ file: 'rows.csv', line: 3, reason: 'asked: expected a JSON array' }],
  ]);
});

it('rejects rows, and reports the field', async () => {
  const long = { type: 'choice', instructions: 'word '.repeat(200), options: ['a'] };
  const rows = [
    { state: 7, questions: [RAINS] },
    { questions: [RAINS] },
    { state: 'a', questions: 'none' },
    { state: 'a', questions: [RAINS, { type: 'choice', options: [] }] },
    { state: 'a', questions: [RAINS, long] },
    { state: 'a', questions: [RAINS] },
    { state: 'a' },
  ];
  write('rows.jsonl', jsonLines(rows));
  const { code } = await run('rows.jsonl', '-o', 'rows-out.jsonl');
  expect(code).toBe(4);
  const rejects = lines<{ line: number; reason: string }>('rows-out.jsonl.rejects.jsonl');
  expect(rejects.map(({ line, reason }) => [line, reason])).toEqual([
    [1, 'state: expected a string'],
    [2, 'state: there is no such column'],
    [3, 'questions: expected a JSON array of questions'],
    [4, 'questions[1].options: expected 1 to 255 options, found 0'],
    [5, expect.stringMatching(/^questions\[1\]: A hypothesis of the question has \d+ tokens/)],
    [7, 'questions: expected a JSON array'],
  ]);
  expect(lines('rows-out.jsonl')).toHaveLength(1);
});

it.each([
  ['no file', ['--questions', 'absent.json'], /--questions: absent.json: /],
  ['no JSON', ['--questions', 'rows.txt'], /rows.txt: expected a JSON array of questions/],
  ['a wrong question', ['--questions', 'wrong.json'], /wrong.json\[0\].type: expected "predicate"/],
  [
    'no model',
    ['--model', FIXTURES, '--questions', 'rains.json'],
    /expected a folder with a model/,
  ],
  [
    'another model',
    ['--model', path.join(FIXTURES, 'tagging', 'bert'), '--questions', 'rains.json'],
    /expected a model that answers questions, the task is token-classification/,
  ],
])('refuses %s before it writes', async (_, args, message) => {
  write('rows.txt', 'x');
  write('wrong.json', '[{"type": "box"}]');
  write('one.jsonl', '{"state": "a"}\n');
  const own = args.includes('--model') ? args : [...model, ...args];
  const options = { cwd: folder.path };
  const { code, stderr } = await overFiles(
    ['decide', ...own, 'one.jsonl', '-o', 'none.jsonl'],
    options,
  );
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});
