/** `libtorch-serve rerank` and `tag`: the answers of sentence-transformers and transformers, into files. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Folder } from '../helpers/files';
import { gliner2Folder, readGliner2Golden } from '../helpers/gliner2';
import { readFixture } from '../helpers/golden';
import { modelWith } from '../helpers/model-folder';
import { type RankedAnswer, RERANKING_CASES, type RerankingCase } from '../helpers/reranking';
import { FIXTURES } from '../helpers/service';
import { jsonLines, overFiles } from './command';

const TOLERANCE = 1e-5;
/** Half a unit of the fourth decimal more. */
const ROUNDED = 0.5e-4 + TOLERANCE;

const folder = new Folder();
const inFolder = (name: string): string => path.join(folder.path, name);
const run = (...args: readonly string[]) => overFiles(args, { cwd: folder.path });
const lines = (name: string) =>
  readFileSync(inFolder(name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

afterAll(() => folder.remove());

describe('rerank', () => {
  const cases = RERANKING_CASES;
  const place = ({ model, config, files }: RerankingCase) =>
    modelWith(folder, model, { 'config.json': config, ...files });
  const close = (actual: number, expected: number) =>
    expect(Math.abs(actual - expected)).toBeLessThanOrEqual(
      TOLERANCE * Math.max(1, Math.abs(expected)),
    );

  it.each([1, 2, 6])('scores as CrossEncoder.predict: case %d', async (index) => {
    const one = cases[index] as RerankingCase;
    const rows = one.answers.flatMap(({ query, documents }) =>
      documents.map((document) => ({ query, document })),
    );
    writeFileSync(inFolder('pairs.jsonl'), jsonLines(rows));
    const args = ['--model', place(one), 'pairs.jsonl', '-o', 'scores.jsonl', '--overwrite'];
    const { code, stderr } = await run('rerank', ...args);
    expect([code, stderr]).toEqual([0, expect.stringContaining('answered')]);
    const found = lines('scores.jsonl');
    for (const [at, expected] of one.answers.flatMap(({ predicted }) => predicted).entries()) {
      const { query, document, score, scores } = found[at];
      expect({ query, document }).toEqual(rows[at]);
      if (typeof expected === 'number') close(score, expected);
      else
        for (const [i, value] of expected.entries())
          close(Object.values<number>(scores)[i] as number, value);
    }
  });

  it('takes one query for all documents, columns of other names, and gives outputs as they are', async () => {
    const { query, documents } = (cases[1] as RerankingCase).answers[0] as RankedAnswer;
    writeFileSync(inFolder('docs.jsonl'), jsonLines(documents.map((body) => ({ body }))));
    const options = ['docs.jsonl', '--document-column', 'body', '--query', query];
    const model = ['--model', place(cases[1] as RerankingCase)];
    await run('rerank', ...model, ...options, '-o', 'scores.csv', '--keep', 'none');
    await run('rerank', ...model, ...options, '--raw-scores', '-o', 'raw.jsonl');
    const [header, ...cells] = readFileSync(inFolder('scores.csv'), 'utf8').trim().split('\n');
    expect(header).toBe('score,truncated');
    for (const [at, { score: raw }] of lines('raw.jsonl').entries()) {
      expect(Number(cells[at]?.split(',')[0])).toBeCloseTo(1 / (1 + Math.exp(-raw)), 6);
    }
    const missing = await run('rerank', ...model, 'docs.jsonl', '-o', 'none.jsonl');
    expect([missing.code, lines('none.jsonl.rejects.jsonl')[0].reason]).toEqual([
      4,
      'query: there is no such column',
    ]);
  });
});

describe('tag', () => {
  const MODEL = path.join(FIXTURES, 'tagging', 'bert');
  const { texts } = readFixture<{ readonly texts: readonly string[] }>('tagging', 'texts.json');
  /** [label, score, word, start and end in code points, index] */
  type GoldenSpan = readonly [string, number, string, number, number, number | null];
  const { rows } = readFixture<{
    readonly rows: readonly {
      readonly text: number;
      readonly strategy: string;
      readonly stride?: number;
      readonly spans: readonly GoldenSpan[];
    }[];
  }>('tagging', 'bert', 'golden.json');

  it.each(['simple', 'max'])('has the spans of the pipeline: %s', async (strategy) => {
    const asked = rows.filter((row) => row.strategy === strategy && row.stride === undefined);
    expect(asked.length).toBeGreaterThan(3);
    writeFileSync(
      inFolder('texts.jsonl'),
      jsonLines(asked.map(({ text }) => ({ text: texts[text] }))),
    );
    const args = ['--model', MODEL, 'texts.jsonl', '--aggregation-strategy', strategy];
    const points = [...args, '--offsets', 'code-points', '--overwrite'];
    const { code, stderr } = await run('tag', ...points, '-o', 'tags.jsonl');
    expect([code, stderr]).toEqual([0, expect.stringContaining('answered')]);
    const found = lines('tags.jsonl');
    for (const [at, { spans }] of asked.entries()) {
      const { tags } = found[at];
      const told = tags.map((tag: GoldenTag) => [tag.label, tag.word, tag.start, tag.end]);
      expect(told).toEqual(spans.map(([label, , word, start, end]) => [label, word, start, end]));
      for (const [i, [, score]] of spans.entries()) {
        expect(Math.abs(tags[i].score - score)).toBeLessThanOrEqual(ROUNDED);
      }
    }
    // In tables it is JSON; without --offsets places are those of JavaScript.
    await run('tag', ...args, '-o', 'tags.parquet', '--overwrite', '--summary', 'tags.json');
    const { parquetReadObjects, asyncBufferFromFile } = await import('hyparquet');
    const table = await parquetReadObjects({
      file: await asyncBufferFromFile(inFolder('tags.parquet')),
    });
    for (const [at, row] of table.entries()) {
      const { text, tags } = row as { readonly text: string; readonly tags: string };
      const units: readonly GoldenTag[] = JSON.parse(tags);
      expect(units.map(({ label }) => label)).toEqual(
        found[at].tags.map(({ label }: GoldenTag) => label),
      );
      for (const [i, { start, end }] of units.entries()) {
        const points = found[at].tags[i];
        const characters = [...text];
        expect(text.slice(start, end)).toBe(characters.slice(points.start, points.end).join(''));
      }
    }
    const { labels } = JSON.parse(readFileSync(inFolder('tags.json'), 'utf8'));
    const all = found.flatMap(({ tags }) => tags);
    expect(Object.values<number>(labels).reduce((sum, times) => sum + times, 0)).toBe(all.length);
  });
});

interface GoldenTag {
  readonly label: string;
  readonly score: number;
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

describe('tag --labels', () => {
  const MODEL = path.join(FIXTURES, 'gliner', 'deberta-marker-v0');
  const { texts, answers } = readFixture<{
    readonly texts: readonly string[];
    readonly answers: readonly {
      readonly text: number;
      readonly labels: readonly string[];
      readonly threshold: number;
      readonly flat_ner: boolean;
      readonly multi_label: boolean;
      readonly entities: readonly (readonly [number, number, string, number])[];
    }[];
  }>('gliner', 'deberta-marker-v0', 'golden.json');

  it.each([
    [0.5, 'flat'],
    [0.4, 'nested'],
  ] as const)('has the entities of gliner: %d, %s', async (threshold, mode) => {
    const labels = ['city', 'film', 'date of birth'];
    const asked = answers.filter(
      (one) =>
        one.threshold === threshold && !one.multi_label && one.labels.join() === labels.join(),
    );
    expect(asked).toHaveLength(texts.length);
    writeFileSync(inFolder('plain.jsonl'), jsonLines(texts.map((text) => ({ text }))));
    const settings = [
      '--threshold',
      String(threshold),
      '--entities',
      mode,
      '--offsets',
      'code-points',
    ];
    const files = ['plain.jsonl', '-o', 'entities.jsonl', '--overwrite'];
    const args = ['--model', MODEL, '--labels', labels.join(), ...settings, ...files];
    const { code, stderr } = await run('tag', ...args);
    expect([code, stderr]).toEqual([0, expect.stringContaining('answered')]);
    for (const [index, { tags }] of lines('entities.jsonl').entries()) {
      const expected = asked.find(({ text }) => text === index)?.entities ?? [];
      type Tag = { start: number; end: number; label: string; score: number };
      expect(tags.map(({ start, end, label }: Tag) => [start, end, label])).toEqual(
        expected.map((entity) => entity.slice(0, 3)),
      );
      for (const [position, { score }] of (tags as Tag[]).entries()) {
        expect(Math.abs(score - (expected[position]?.[3] as number))).toBeLessThanOrEqual(ROUNDED);
      }
    }
  });

  it('has the entities of gliner2', async () => {
    const name = 'deberta-lstm';
    const golden = readGliner2Golden(name);
    const labels = ['city', 'film', 'date of birth'];
    const rows = golden.entities.filter(
      (row) => row.threshold === 0.5 && Object.keys(row.entities).join() === labels.join(),
    );
    const inputs = golden.texts.slice(0, rows.length).map((text) => ({ text }));
    writeFileSync(inFolder('gliner2.jsonl'), jsonLines(inputs));
    const files = ['gliner2.jsonl', '-o', 'entities2.jsonl', '--offsets', 'code-points'];
    const args = ['--model', gliner2Folder(name), '--labels', labels.join(), ...files];
    const { code, stderr } = await run('tag', ...args);
    expect([code, stderr]).toEqual([0, expect.stringContaining('answered')]);
    expect(rows).toHaveLength(9);
    for (const [index, { tags }] of lines('entities2.jsonl').entries()) {
      const expected = Object.entries(rows[index]?.entities ?? {}).flatMap(([label, spans]) =>
        spans.map(([start]) => `${start} ${label}`),
      );
      const found = (tags as { start: number; label: string }[]).map(
        ({ start, label }) => `${start} ${label}`,
      );
      expect(found.sort()).toEqual(expected.sort());
    }
  });

  it('rejects wrong labels before it loads the model', async () => {
    const { code, stderr } = await run(
      'tag',
      '--model',
      MODEL,
      '--labels',
      'a,,b',
      'x.jsonl',
      '-o',
      'y.jsonl',
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining('--labels: [1]: expected a label')]);
  });
});
