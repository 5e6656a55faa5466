/** Models of late interaction (ColBERT) read queries and documents as MultiVectorEncoder does. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TaskModel } from '../../src/tasks/task-model';
import { tokenEmbedding } from '../../src/tasks/token-embedding/token-embedding-task';
import { Folder } from '../helpers/files';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const TOLERANCE = 1e-5;
const OPTIONS = { timeoutMs: 60_000 };
const FOLDER = path.join(FIXTURES, 'embeddings', 'late-interaction');

interface Golden {
  readonly answers: readonly {
    readonly text: number;
    readonly role: 'query' | 'document' | 'text';
    readonly tokens: number;
    readonly values: readonly number[];
  }[];
}

const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');

const DIRECTORIES = readdirSync(FOLDER);

it('there are models of each form', () => {
  const saved = ['fixed', 'fixed-attended', 'lengths', 'min', 'min-token'];
  const pylate = ['pylate', 'pylate-attended', 'pylate-unfilled'];
  const stanford = ['stanford', 'stanford-attended', 'stanford-plain'];
  expect(DIRECTORIES).toEqual([...saved, ...pylate, ...stanford]);
});

it.each(DIRECTORIES)('%s has the vectors of MultiVectorEncoder, or of PyLate', async (name) => {
  const directory = path.join(FOLDER, name);
  expect(tokenEmbedding.findModelPaths(directory)).toEqual([directory]);
  const { answers } = readFixture<Golden>('embeddings', 'late-interaction', name, 'golden.json');
  const model = await TaskModel.load(tokenEmbedding, directory, SCHEDULING);
  try {
    const { prompts } = model.metadata;
    const inputs = answers.map(({ text, role }) => ({
      text: texts[text] as string,
      ...(role !== 'text' && { prompt: prompts[role] as string, promptName: role }),
    }));
    // All in one list: what is seen of one text is not seen of its neighbours.
    const embedded = await model.runAll(inputs, OPTIONS);
    for (const [index, { values, tokens }] of answers.entries()) {
      const { vectors } = embedded[index] as (typeof embedded)[number];
      expect(vectors).toHaveLength(tokens);
      const numbers = vectors.flatMap((vector) => Array.from(vector));
      const furthest = values.map((value, i) => Math.abs(value - (numbers[i] as number)));
      expect(Math.max(...furthest)).toBeLessThan(TOLERANCE);
      const { vectors: alone } = await model.run(inputs[index] as (typeof inputs)[number], OPTIONS);
      expect(alone).toEqual(vectors);
    }
  } finally {
    await model.close();
  }
});

interface Far {
  readonly expansion: number;
  readonly config: object;
  readonly values: readonly (readonly number[])[];
}

/** Tokens that a query is filled up with see no token of it from the end of a layer's window on. */
describe('queries that are filled up beyond the window of a layer', () => {
  const folder = new Folder();
  afterAll(() => folder.remove());

  it.each(readFixture<readonly Far[]>('embeddings', 'late-interaction-far.json'))(
    'have the vectors of MultiVectorEncoder: $expansion tokens, $config',
    async (far) => {
      const directory = path.join(folder.path, String(far.expansion));
      cpSync(path.join(FOLDER, 'min-token'), directory, { recursive: true });
      const change = (file: string, entries: object) => {
        const place = path.join(directory, file);
        const content = { ...JSON.parse(readFileSync(place, 'utf8')), ...entries };
        // In the fixture, null stands for a key that is not there.
        const kept = Object.entries(content).filter(([, value]) => value !== null);
        writeFileSync(place, JSON.stringify(Object.fromEntries(kept)));
      };
      change('config.json', far.config);
      const expansion = { strategy: 'min', length: far.expansion, token: '[SEP]' };
      change('sentence_bert_config.json', { query_expansion: expansion });
      const model = await TaskModel.load(tokenEmbedding, directory, SCHEDULING);
      try {
        const prompt = model.metadata.prompts.query as string;
        const query = { text: 'good', prompt, promptName: 'query' };
        const { vectors } = await model.run(query, OPTIONS);
        const furthest = far.values.map((row, i) =>
          Math.max(...row.map((value, k) => Math.abs(value - (vectors[i]?.[k] ?? Number.NaN)))),
        );
        expect(vectors).toHaveLength(far.expansion);
        expect(Math.max(...furthest)).toBeLessThan(TOLERANCE);
        const long = { ...query, text: 'good '.repeat(100) };
        const [beside] = await model.runAll([query, long], OPTIONS);
        expect(beside?.vectors).toEqual(vectors);
      } finally {
        await model.close();
      }
    },
  );
});

describe('what cannot be read as sentence-transformers reads it', () => {
  const folder = new Folder();
  afterAll(() => folder.remove());

  /** A copy with other entries in one of its JSON files. */
  function changed(fixture: string, file: string, entries: object): string {
    const directory = path.join(folder.path, `${fixture}-${readdirSync(folder.path).length}`);
    cpSync(path.join(FOLDER, fixture), directory, { recursive: true });
    const place = path.join(directory, file);
    writeFileSync(
      place,
      JSON.stringify({ ...JSON.parse(readFileSync(place, 'utf8')), ...entries }),
    );
    return directory;
  }

  const TRANSFORMER = 'sentence_bert_config.json';
  const expansion = { strategy: 'min', length: 6 };

  it.each<[string, string, object, string]>([
    [
      'fixed',
      '2_MultiVectorMask/config.json',
      { keep_only_token_ids: [3] },
      '2_MultiVectorMask/config.json: keep_only_token_ids: expected [], received [3]. It is for models of images',
    ],
    [
      'fixed',
      TRANSFORMER,
      { query_expansion: { ...expansion, length: 41 } },
      'sentence_bert_config.json: query_expansion: length: 41 tokens, the model takes 40',
    ],
    [
      'fixed',
      TRANSFORMER,
      { query_expansion: { ...expansion, token: 'no-such-token' } },
      'sentence_bert_config.json: query_expansion: token: the tokenizer has no "no-such-token"',
    ],
    [
      'fixed',
      TRANSFORMER,
      { query_expansion: { ...expansion, strategy: 'max' } },
      'sentence_bert_config.json: query_expansion.strategy: expected "fixed" or "min"',
    ],
    [
      'fixed',
      TRANSFORMER,
      { query_expansion: { ...expansion, stride: 2 } },
      'sentence_bert_config.json: query_expansion',
    ],
    ['fixed', 'config.json', { model_type: 'deberta-v2' }, 'attend: false is not supported'],
    ['stanford', 'artifact.metadata', { query_maxlen: 0 }, 'artifact.metadata: query_maxlen: '],
    [
      'stanford',
      'artifact.metadata',
      { dim: 9 },
      'model.safetensors: linear.weight: has shape [8, 16], expected [9, 16]',
    ],
    [
      'fixed',
      'tokenizer_config.json',
      { padding_side: 'left' },
      'tokenizer_config.json: padding_side: "left"',
    ],
  ])('%s with %s %j', async (fixture, file, entries, message) => {
    const directory = changed(fixture, file, entries);
    const load = async () => TaskModel.load(tokenEmbedding, directory, SCHEDULING);
    await expect(load()).rejects.toThrow(message);
  });

  it('queries that are filled up need the module that gives them vectors', () => {
    const directory = changed('fixed', TRANSFORMER, {});
    const place = path.join(directory, 'modules.json');
    const modules = JSON.parse(readFileSync(place, 'utf8')) as { type: string }[];
    const others = modules.filter(({ type }) => !type.endsWith('MultiVectorMask'));
    writeFileSync(place, JSON.stringify(others));
    expect(() => tokenEmbedding.read(directory)).toThrow('modules.json has no MultiVectorMask');
  });
});
