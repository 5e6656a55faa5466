import { Folder } from '../../helpers/files';
import { readFixture } from '../../helpers/golden';
import { post } from '../../helpers/http';
import { modelWith } from '../../helpers/model-folder';
import { killAll, type Service, startService } from '../../helpers/service';

/** Rounding of scores and probabilities. */
const ROUNDING = 0.5e-4;

interface GliclassGolden {
  readonly texts: readonly string[];
  readonly answers: readonly {
    readonly text: number;
    readonly labels: readonly string[];
    readonly prompt: string | null;
    readonly logits: readonly number[];
  }[];
}

interface LayaGolden {
  readonly states: readonly string[];
  readonly questions: Readonly<Record<string, object>>;
  readonly answers: readonly {
    readonly state: number;
    readonly question: string;
    readonly ids: readonly number[];
    readonly act_probability: number;
    readonly probabilities: readonly number[];
  }[];
}

const folder = new Folder();
let service: Service;

beforeAll(async () => {
  modelWith(folder, '../gliclass/modernbert-cross-attention', {}, 'labels');
  modelWith(folder, '../laya/english', {}, 'laya');
  modelWith(folder, '../laya/parallel', {}, 'parallel');
  service = await startService('models', { args: [folder.path] });
  await service.waitForLog(({ msg }) => msg === 'models loaded');
});

afterAll(async () => {
  await killAll();
  folder.remove();
});

const golden = readFixture<GliclassGolden>('gliclass', 'modernbert-cross-attention', 'golden.json');
const rows = golden.answers.filter(({ labels, prompt }) => labels.length === 3 && !prompt);
const labels = rows[0]?.labels ?? [];

/** Scores by label: softmax of the golden logits. */
function expectedOf(text: number): Record<string, number> {
  const logits = rows[text]?.logits ?? [];
  const exponentials = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
  const sum = exponentials.reduce((total, value) => total + value);
  return Object.fromEntries(labels.map((label, i) => [label, (exponentials[i] ?? 0) / sum]));
}

function expectScores(found: Record<string, number>, expected: Record<string, number>): void {
  expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
  for (const [label, score] of Object.entries(expected)) {
    expect(Math.abs((found[label] ?? 2) - score)).toBeLessThanOrEqual(ROUNDING + 1e-5);
  }
}

describe('GLiClass', () => {
  it('classifies by the labels of a request', async () => {
    const text = golden.texts[2];
    const { status, json } = await post(service, '/models/labels/zero-shot', {
      text,
      candidate_labels: labels,
    });
    expect(status).toBe(200);
    const { labels: ranked, scores } = json as { labels: string[]; scores: number[] };
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expectScores(
      Object.fromEntries(ranked.map((label, i) => [label, scores[i] ?? 2])),
      expectedOf(2),
    );
  });

  it('has the zero-shot pipeline of the Hugging Face API', async () => {
    const path = '/models/labels';
    const parameters = { candidate_labels: labels };
    const inputs = [golden.texts[0], golden.texts[2]];
    const { status, json } = await post(service, path, { inputs, parameters });
    expect(status).toBe(200);
    const lists = json as { label: string; score: number }[][];
    for (const [index, text] of [0, 2].entries()) {
      const scores = (lists[index] ?? []).map(({ label, score }) => [label, score]);
      expectScores(Object.fromEntries(scores), expectedOf(text));
    }
    const single = await post(service, path, { inputs: inputs[1], parameters });
    expect(single.json).toEqual(lists[1]);
    expect((await post(service, path, { inputs: 'a' })).status).toBe(422);
  });

  it('reports a truncated text, and rejects labels that leave no tokens for it', async () => {
    const path = '/models/labels/zero-shot';
    const text = 'A long text. '.repeat(500);
    const { status, headers } = await post(service, path, { text, candidate_labels: labels });
    expect([status, headers['x-input-truncated']]).toEqual([200, 'true']);
    const many = Array.from({ length: 90 }, (_, i) => `A label with some words, number ${i}`);
    const rejected = await post(service, path, { text, candidate_labels: many });
    expect(rejected.status).toBe(422);
    expect(JSON.stringify(rejected.json)).toMatch(
      /The labels and the instructions have \d+ tokens/,
    );
  });

  it('answers questions', async () => {
    const { status, json } = await post(service, '/models/labels/decide', {
      state: golden.texts[2],
      questions: [{ type: 'choice', options: labels }],
    });
    expect(status).toBe(200);
    const [answer] = (json as { answers: { probabilities: object[] }[] }).answers;
    const found = (answer?.probabilities ?? []) as { label: string; probability: number }[];
    const pairs = found.map(({ label, probability }) => [label, probability]);
    expectScores(Object.fromEntries(pairs), expectedOf(2));
  });

  it('serves tensors', async () => {
    const { status, json } = await post(service, '/v2/models/labels/infer', {
      inputs: [
        { name: 'TEXT', datatype: 'BYTES', shape: [1], data: [golden.texts[2]] },
        { name: 'OPTIONS', datatype: 'BYTES', shape: [1], data: [JSON.stringify(labels)] },
      ],
    });
    expect(status).toBe(200);
    const { outputs } = json as { outputs: { name: string; data: number[] }[] };
    const [probabilities, counts] = outputs;
    expect(counts).toMatchObject({ name: 'OPTION_COUNT', data: [3] });
    const pairs = labels.map((label, index) => [label, probabilities?.data[index]]);
    expectScores(Object.fromEntries(pairs), expectedOf(2));
    for (const options of ['[]', '{', '[1]', '"a"']) {
      const wrong = await post(service, '/v2/models/labels/infer', {
        inputs: [
          { name: 'TEXT', datatype: 'BYTES', shape: [1], data: ['a'] },
          { name: 'OPTIONS', datatype: 'BYTES', shape: [1], data: [options] },
        ],
      });
      expect(wrong.status).toBe(400);
    }
  });
});

describe('Laya', () => {
  const laya = readFixture<LayaGolden>('laya', 'english', 'golden.json');

  it('answers the questions of TypeSafe clients as laya does', async () => {
    const { status, json } = await post(service, '/v1/systemone', {
      model: 'laya',
      state: laya.states[2],
      questions: laya.questions,
    });
    expect(status).toBe(200);
    const expected = laya.answers.filter(({ state }) => state === 2);
    const { answers, usage } = json as {
      answers: Record<string, { noul?: number; probabilities?: Record<string, number> }>;
      usage: { input_tokens: number };
    };
    expect(Object.keys(answers)).toEqual(Object.keys(laya.questions));
    for (const { question, probabilities } of expected) {
      const { noul, probabilities: found } = answers[question] ?? {};
      const values = noul === undefined ? Object.values(found ?? {}) : [1 - noul, noul];
      expect(values).toHaveLength(probabilities.length);
      for (const [index, value] of probabilities.entries()) {
        const difference = Math.abs((values[index] ?? 2) - value);
        // Rounded probabilities add up to 1, so the last place of one of them can differ.
        expect(difference).toBeLessThanOrEqual(2 * ROUNDING + 1e-5);
      }
    }
    const tokens = expected.reduce((sum, { ids }) => sum + ids.length, 0);
    expect(usage.input_tokens).toBe(tokens);
  });

  it('rejects options that do not fit, with the question', async () => {
    const criteria = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`topic ${i}`, null]),
    );
    const { status, json } = await post(service, '/v1/systemone', {
      model: 'laya',
      state: 'a',
      questions: { a: { type: 'choice', criteria, instructions: 'Which?' } },
    });
    expect(status).toBe(422);
    expect(JSON.stringify(json)).toMatch(/of the 200 options fit into the 96 tokens/);
  });

  it('returns the probability to act, and reads long states in windows', async () => {
    const {
      answers: golden,
      questions,
      states,
    } = readFixture<
      LayaGolden & { readonly answers: readonly { readonly act_probability: number }[] }
    >('laya', 'parallel', 'golden.json');
    const body = { model: 'parallel', state: states[0], questions };
    const { json } = await post(service, '/v1/systemone', body);
    const { answers } = json as {
      answers: Record<string, { readonly action: { readonly act_probability: number } }>;
    };
    for (const { question, act_probability } of golden.filter(({ state }) => state === 0)) {
      const found = answers[question]?.action.act_probability ?? 2;
      expect(Math.abs(found - act_probability)).toBeLessThanOrEqual(ROUNDING + 1e-5);
    }
    const asked = [{ type: 'choice', options: ['film', 'refund'] }];
    const decide = async (model: string, state: string) => {
      const sent = { state, questions: asked, long_states: 'windows' };
      return post(service, `/models/${model}/decide`, sent);
    };
    const long = await decide('parallel', 'The film was late. '.repeat(60));
    expect(long.json).toMatchObject({
      answers: [{ window: expect.any(Number), act_probability: expect.any(Number) }],
    });
    const short = await decide('parallel', 'The film was late.');
    const [answer] = (short.json as { readonly answers: readonly object[] }).answers;
    expect(answer).not.toHaveProperty('window');
    const { status, json: refused } = await decide('labels', 'The film was late.');
    expect([status, (refused as { readonly detail: string }).detail]).toEqual([
      422,
      'long_states: the model reads no windows. Use "truncate"',
    ]);
  });

  it('has no zero-shot classification', async () => {
    const body = { text: 'a', candidate_labels: ['b'] };
    expect((await post(service, '/models/laya/zero-shot', body)).status).toBe(404);
  });
});
