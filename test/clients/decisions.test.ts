import path from 'node:path';
import { Folder } from '../helpers/files';
import { post } from '../helpers/http';
import { modelWith } from '../helpers/model-folder';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';
import { killAll, type Service, startService } from '../helpers/service';

const KEY = 'a-key-that-is-long-enough-0123456789';
const STATE = 'The parcel arrived broken.';
const SCRIPT_MS = 240_000;
const PYTHON = path.join(__dirname, 'python');
const CONFIG = {
  id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' },
  label2id: { contradiction: 0, neutral: 1, entailment: 2 },
};

type Answer = Readonly<Record<string, unknown>>;
type Answers = Readonly<Record<string, Answer>>;

const folder = new Folder();
let service: Service;
let modelDirectory: string;

beforeAll(async () => {
  modelDirectory = modelWith(folder, 'deberta-v2-as-v3-float16', { 'config.json': CONFIG }, 'nli');
  service = await startService('models', { args: [folder.path], env: { API_KEY: KEY } });
  await service.waitForLog(({ msg }) => msg === 'models loaded');
});

afterAll(async () => {
  await killAll();
  folder.remove();
});

/** Answers of POST /v1/systemone. */
async function ask(questions: object): Promise<Answers> {
  const headers = { authorization: `Bearer ${KEY}` };
  const body = { model: 'nli', state: STATE, questions };
  const { json } = await post(service, '/v1/systemone', body, { headers });
  return (json as { readonly answers: Answers }).answers;
}

const REFUND = { type: 'noul', instructions: 'The customer wants their money back.' };
const BOTH = { type: 'noul', criteria: { true: 'It is broken.', false: 'It is whole.' } };
const TOPIC = {
  type: 'choice',
  instructions: 'The topic',
  criteria: { delivery: 'About delivery.', price: null },
};

needs('python').describe('typesafe-sdk and openai of Python', () => {
  it(
    'get the answers of the server',
    async () => {
      const packages = await installPython('clients', path.join(PYTHON, 'requirements.txt'));
      const { stdout } = await runFile('python3', ['decisions.py', service.origin, 'nli', KEY], {
        cwd: PYTHON,
        env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
        timeout: SCRIPT_MS,
      });
      const told = JSON.parse(stdout);
      const mood = { type: 'score', criteria: ['fine', { as: 'it is' }, 'awful'] };
      const answers = await ask({ refund: REFUND, both: BOTH, topic: TOPIC, mood });
      expect(Object.keys(answers)).toHaveLength(4);
      expect(told.typesafe).toEqual({
        answers,
        model: 'nli',
        tokens: expect.any(Number),
        request_id: true,
        encoding: 'zstd',
        same: true,
        models: ['nli'],
      });
      expect(told.async).toEqual(answers);
      const at = `POST ${service.origin}/v1/systemone:`;
      const unknown = 'model: no loaded model "none" supports decisions. Loaded models: "nli"';
      const image = 'images are not supported. Send texts only';
      expect(told.errors).toEqual({
        model: { class: 'TypeSafeNotFoundError', message: `${at} 404 ${unknown} (request_id=ID)` },
        long: {
          class: 'TypeSafeUnprocessableEntityError',
          message: expect.stringContaining(`${at} 422 questions.a: A hypothesis of the question`),
        },
        image: {
          class: 'TypeSafeUnprocessableEntityError',
          message: `${at} 422 assets: ${image}, as application/json (request_id=ID)`,
        },
        key: {
          class: 'TypeSafeAuthenticationError',
          message: `${at} 401 The API key is not known. (request_id=ID)`,
        },
      });
      const { noul } = answers.refund as { readonly noul: number };
      const { decision, ...openAi } = told.openai;
      expect(decision.answers.slice(0, 2)).toEqual([
        { type: 'predicate', name: 'refund', probability: noul },
        {
          type: 'choice',
          name: null,
          choice: answers.topic?.choice,
          confidence: answers.topic?.confidence,
          probabilities: pairs(answers.topic),
        },
      ]);
      expect(decision.usage.total_tokens).toBeGreaterThan(0);
      expect(openAi).toEqual({
        same: true,
        model_list: ['nli'],
        image: { class: 'BadRequestError', message: `input[0].content[0].type: ${image}` },
        model: { class: 'NotFoundError', message: unknown },
      });
    },
    INSTALL_MS + SCRIPT_MS,
  );
});

/** Probabilities in the format of OpenAI. */
function pairs(answer: Answer | undefined): readonly object[] {
  const probabilities = Object.entries(answer?.probabilities as Record<string, number>);
  return probabilities.map(([value, probability]) => ({ value, probability }));
}

describe('npm packages', () => {
  let told: Record<string, Answer & { readonly answers: Answers }>;
  let answers: Answers;

  beforeAll(async () => {
    const script = path.join(__dirname, 'javascript', 'decisions.mjs');
    const args = [script, service.origin, 'nli', KEY, modelDirectory];
    const { stdout } = await runFile('node', args, { timeout: SCRIPT_MS, maxBuffer: 2 ** 24 });
    told = JSON.parse(stdout);
    const many = Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`label ${i}`, null]));
    answers = await ask({
      refund: REFUND,
      both: BOTH,
      topic: TOPIC,
      many: { type: 'choice', criteria: many },
      mood: {
        type: 'score',
        instructions: 'How bad?',
        criteria: Array.from({ length: 10 }, (_, level) => `level ${level}`),
      },
    });
  }, SCRIPT_MS);

  it('openai and @typesafe-ai/sdk get the answers of the server', () => {
    const { noul } = answers.refund as { readonly noul: number };
    expect(told.openai?.answers).toEqual([
      { type: 'predicate', name: 'refund', probability: noul },
    ]);
    expect(told.typeSafe?.answers).toEqual({ refund: answers.refund });
    const release_date = expect.any(String);
    expect(told.typeSafeModels).toEqual([{ name: 'nli', description: 'nli', release_date }]);
  });

  it.each([
    ['aiTypeSafe', 'typesafe', 0],
    ['aiOpenAi', 'openai', 0],
    ['aiServer', 'libtorch-serve', 1],
    ['aiProcess', 'libtorch-serve', 1],
  ])('ai accepts the answers of %s', (name, provider, truncated) => {
    const { answers: given, providerMetadata, ...result } = told[name] as (typeof told)[string];
    expect(rounded(given)).toEqual({
      refund: { type: 'boolean', probability: answers.refund?.noul },
      both: { type: 'boolean', probability: answers.both?.noul },
      ...Object.fromEntries(['topic', 'many', 'mood'].map((id) => [id, withoutConfidence(id)])),
    });
    const { confidence } = (providerMetadata as Record<string, { confidence: Answer }>)[
      provider
    ] as { confidence: Answer };
    const ids = ['topic', 'many', 'mood'];
    expect(rounded(confidence)).toEqual(
      Object.fromEntries(ids.map((id) => [id, answers[id]?.confidence])),
    );
    expect(result).toEqual({
      warnings: [],
      json: { type: 'boolean', probability: expect.any(Number) },
      long: truncated,
      image: true,
    });
    expect(rounded(result.json)).toEqual(told.aiTypeSafe?.json);
  });

  it('the client and the model in the process have equal answers', () => {
    expect(rounded(told.process)).toEqual(told.client);
    expect(told.client).toHaveLength(3);
    expect(told.invalid).toEqual({
      error: 'InputError',
      message: 'questions[0].options: expected 1 to 255 options, found 0',
    });
  });

  /** An answer of the server as the AI SDK returns it. */
  function withoutConfidence(id: string): Answer {
    const { confidence, legend, ...answer } = answers[id] as Answer;
    return answer;
  }
});

/** Numbers rounded to four decimals. */
function rounded(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, one) => (typeof one === 'number' ? Number(one.toFixed(4)) : one)),
  );
}
