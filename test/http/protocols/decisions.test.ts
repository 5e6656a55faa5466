import { Documented } from '../../helpers/documented';
import { Folder } from '../../helpers/files';
import { type Answer, post, postRaw, request } from '../../helpers/http';
import { modelWith } from '../../helpers/model-folder';
import { killAll, type Service, startService } from '../../helpers/service';

const STATE = 'The parcel arrived broken.';
const CONFIG = {
  id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' },
  label2id: { contradiction: 0, neutral: 1, entailment: 2 },
};
const OPERATIONS = ['decide', 'openaiDecisions', 'typesafeSystemone'];
/** Rounding of the probabilities of a response. */
const ROUNDING = 0.5e-4;

const folder = new Folder();
let service: Service;
let documented: Documented;

beforeAll(async () => {
  modelWith(folder, 'roberta-three-labels-float16', { 'config.json': CONFIG }, 'nli');
  modelWith(folder, 'bert-single-label', {}, 'films');
  modelWith(
    folder,
    'roberta-three-labels-float16',
    { 'config.json': CONFIG, 'model.json': { decision: { template: '{option}' } } },
    'plain',
  );
  service = await startService('models', { args: [folder.path] });
  await service.waitForLog(({ msg }) => msg === 'models loaded');
  documented = await Documented.of(service, ({ operationId }) => OPERATIONS.includes(operationId));
});

afterAll(async () => {
  await killAll();
  folder.remove();
});

const ask = async (path: string, body: object): Promise<Answer> =>
  documented.note('POST', path, await post(service, path, body));
const systemOne = (body: object): Promise<Answer> =>
  ask('/v1/systemone', { model: 'nli', state: STATE, ...body });
const decisions = (body: object): Promise<Answer> =>
  ask('/v1/decisions', { model: 'nli', input: STATE, ...body });
const decide = (body: object): Promise<Answer> => ask('/decide', { state: STATE, ...body });

const CRITERIA = { delivery: 'It is about delivery.', price: null, '1': 'It is about a person.' };
const LEVELS = ['fine', null, 'awful'];

interface Answers {
  readonly answers: Readonly<Record<string, Record<string, unknown>>>;
}

describe('POST /v1/systemone', () => {
  it('answers each type of question', async () => {
    const { status, json, headers } = await systemOne({
      questions: {
        refund: { type: 'noul', instructions: 'The customer wants their money back.' },
        topic: { type: 'choice', criteria: CRITERIA, instructions: null },
        mood: { type: 'score', criteria: LEVELS, instructions: 'How bad is it?' },
      },
    });
    expect(status).toBe(200);
    expect(headers['x-typesafe-request-id']).toBe(headers['x-request-id']);
    const { answers, model, usage } = json as Answers & { model: string; usage: object };
    expect(model).toBe('nli');
    expect(usage).toEqual({ input_tokens: expect.any(Number), output_tokens: 0 });
    expect(answers.refund).toEqual({ type: 'noul', noul: expect.any(Number) });
    const { probabilities, choice, confidence } = answers.topic as {
      probabilities: Record<string, number>;
      choice: string;
      confidence: number;
    };
    expect(Object.keys(probabilities).sort()).toEqual(['1', 'delivery', 'price']);
    const values = Object.values(probabilities);
    expect(probabilities[choice]).toBe(Math.max(...values));
    expect(values.reduce((sum, value) => sum + value)).toBeCloseTo(1, 3);
    expect(confidence).toBeCloseTo((Math.max(...values) - 1 / 3) / (1 - 1 / 3), 3);
    const { score, legend, ...mood } = answers.mood as Record<string, Record<string, number>>;
    expect(legend).toEqual({ '0': 'fine', '1': '', '2': 'awful' });
    const mean = Object.entries(mood.probabilities ?? {}).reduce(
      (sum, [level, probability]) => sum + Number(level) * probability,
      0,
    );
    expect(Math.abs(Number(score) - mean)).toBeLessThanOrEqual(4 * ROUNDING);
  });

  it('has the answers of POST /v1/decisions and POST /decide', async () => {
    const question = { type: 'choice', instructions: 'The topic' };
    const [typeSafe, openAi, own] = await Promise.all([
      systemOne({ questions: { a: { ...question, criteria: { film: 'A film.', sports: null } } } }),
      decisions({
        questions: [
          {
            ...question,
            choices: [{ value: 'film', description: 'A film.' }, { value: 'sports' }],
          },
        ],
      }),
      decide({
        questions: [
          { ...question, options: [{ label: 'film', description: 'A film.' }, 'sports'] },
        ],
      }),
    ]);
    const expected = (typeSafe.json as Answers).answers.a?.probabilities as Record<string, number>;
    const ofOpenAi = (openAi.json as { answers: { probabilities: object[] }[] }).answers[0];
    expect(ofOpenAi?.probabilities).toEqual([
      { value: 'film', probability: expected.film },
      { value: 'sports', probability: expected.sports },
    ]);
    const ofOwn = (own.json as { answers: { probabilities: object[] }[] }).answers[0];
    expect(ofOwn?.probabilities).toEqual([
      { label: 'film', probability: expected.film },
      { label: 'sports', probability: expected.sports },
    ]);
  });

  it('reads JSON as Python prints it', async () => {
    const questions = { a: { type: 'noul', instructions: 'It rains.' } };
    const ask = async (state: string) => {
      const body = `{"model":"nli","questions":${JSON.stringify(questions)},"state":${state}}`;
      const { json } = await postRaw(service, '/v1/systemone', body);
      return (json as Answers & { usage: object }).answers.a;
    };
    const text = await ask(JSON.stringify('{"b": 1.0, "2": 1e-05, "1": [true, null, "é"]}'));
    expect(await ask('{"b":1.0,"2":0.00001,"1":[true,null,"\\u00e9"]}')).toEqual(text);
    expect(await ask('{"b":1,"2":0.00001,"1":[true,null,"\\u00e9"]}')).not.toEqual(text);
  });

  it('reads the parts of the AI SDK', async () => {
    const questions = { a: { type: 'noul', instructions: 'It rains.' } };
    const ask = async (state: unknown) =>
      ((await systemOne({ questions, state })).json as Answers).answers.a;
    const text = await ask('It rains.\n{"a": 1}');
    const parts = [
      { type: 'text', text: 'It rains.' },
      { type: 'json', value: { a: 1 } },
    ];
    expect(await ask(parts)).toEqual(text);
    expect(await ask(parts.slice(0, 1))).toEqual(await ask('It rains.'));
    expect(await ask(['It rains.'])).toEqual(await ask('["It rains."]'));
  });

  const noul = { type: 'noul', instructions: 'It rains.' };
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [i, null]));
  it.each<[string, object, string | null, string]>([
    ['no questions', { questions: {} }, 'questions', 'expected 1 to 256 questions, found 0'],
    [
      'null as a state',
      { state: null, questions: { a: noul } },
      'state',
      'expected a string, an object or an array',
    ],
    [
      'a number as a state',
      { state: 1.5, questions: { a: noul } },
      'state',
      'expected a string, an object or an array',
    ],
    [
      'a box',
      { questions: { a: { type: 'box' } } },
      'questions.a.type',
      'box questions are about images: images are not supported. Send texts only',
    ],
    [
      'assets',
      { questions: { a: noul }, assets: { a: {} } },
      'assets',
      'images are not supported. Send texts only',
    ],
    [
      'an image in the state',
      { questions: { a: noul }, state: [{ type: 'file', mediaType: 'image/png', data: '' }] },
      'state[0]',
      'images are not supported. Send texts only',
    ],
    [
      'a noul without a statement',
      { questions: { a: { type: 'noul', criteria: { true: null } } } },
      'questions.a',
      'expected instructions, or a criterion for true or false',
    ],
    [
      'other criteria of a noul',
      { questions: { a: { ...noul, criteria: { maybe: 'x' } } } },
      'questions.a.criteria',
      'expected only "true" and "false"',
    ],
    [
      '256 options',
      { questions: { a: { type: 'choice', criteria: many(256) } } },
      'questions.a.criteria',
      'expected 1 to 255 labels, found 256',
    ],
    [
      '11 levels',
      { questions: { a: { type: 'score', criteria: Array(11).fill(null) } } },
      'questions.a.criteria',
      'expected 1 to 10 levels, found 11',
    ],
    [
      '257 questions',
      { questions: Object.fromEntries(Array.from({ length: 257 }, (_, i) => [i, noul])) },
      'questions',
      'expected 1 to 256 questions, found 257',
    ],
    [
      'a number as instructions',
      { questions: { a: { ...noul, instructions: 1 } } },
      'questions.a.instructions',
      'expected a string, an object or an array',
    ],
    [
      'long instructions',
      { questions: { a: noul, b: { ...noul, instructions: 'word '.repeat(99) } } },
      'questions.b',
      expect.stringContaining('leaves none for the state'),
    ],
  ])('rejects %s', async (_, body, path, msg) => {
    const { status, json, headers } = await systemOne(body);
    expect(status).toBe(422);
    expect(json).toEqual({
      detail: [{ loc: path === null ? ['body'] : ['body', path], msg, type: expect.any(String) }],
    });
    expect(headers['x-typesafe-request-id']).toBe(headers['x-request-id']);
  });

  it('rejects multipart bodies, with assets', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const { status, json } = await postRaw(service, '/v1/systemone', '--x--', { headers });
    expect(status).toBe(422);
    const msg = 'images are not supported. Send texts only, as application/json';
    expect(json).toEqual({ detail: [{ loc: ['body', 'assets'], msg, type: 'body_invalid' }] });
    const text = { 'content-type': 'text/plain' };
    const other = await postRaw(service, '/v1/systemone', '{}', { headers: text });
    expect([other.status, other.json]).toEqual([
      415,
      { detail: 'The Content-Type must be application/json.' },
    ]);
  });

  it('rejects more options in all than MAX_LIST_LENGTH', async () => {
    const questions = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [i, { type: 'choice', criteria: many(255) }]),
    );
    const { status, text } = await systemOne({ questions });
    expect(status).toBe(422);
    expect(text).toMatch(/51000 options and levels in total exceed the limit/);
  });

  it.each([
    ['films', 'supports text classification, not decisions'],
    ['none', 'no loaded model \\"none\\" supports decisions'],
  ])('rejects the model %s', async (model, problem) => {
    const { status, text } = await systemOne({ model, questions: { a: noul } });
    expect(status).toBe(404);
    expect(text).toContain(problem);
  });

  it('reports a truncated state', async () => {
    const questions = { a: noul };
    const short = await systemOne({ questions });
    expect(short.headers['x-input-truncated']).toBeUndefined();
    const long = await systemOne({ questions, state: 'It rains. '.repeat(100) });
    expect([long.status, long.headers['x-input-truncated']]).toEqual([200, 'true']);
  });
});

describe('POST /v1/decisions', () => {
  const predicate = { type: 'predicate', instructions: 'It rains.' };

  it('answers in the order of the questions', async () => {
    const { status, json } = await decisions({
      questions: [
        { ...predicate, name: 'rain' },
        {
          type: 'choice',
          instructions: [
            { type: 'input_text', text: 'Which?' },
            { type: 'input_json', data: { a: 1 } },
          ],
          choices: [{ value: true }, { value: 'true' }, { value: false, description: 'No.' }],
        },
        {
          type: 'score',
          instructions: 'How?',
          levels: [{ label: 'low' }, { label: '1', description: 'high' }],
        },
      ],
    });
    expect(status).toBe(200);
    const body = json as { answers: Record<string, unknown>[]; usage: Record<string, number> };
    expect(body.answers[0]).toEqual({
      type: 'predicate',
      name: 'rain',
      probability: expect.any(Number),
    });
    const choice = body.answers[1] as { probabilities: { value: unknown }[]; choice: unknown };
    expect(choice.probabilities.map(({ value }) => value)).toEqual([true, 'true', false]);
    expect([true, 'true', false]).toContain(choice.choice);
    expect(body.answers[2]).toMatchObject({
      name: null,
      probabilities: [
        { label: 'low', value: 0 },
        { label: '1', value: 1 },
      ],
    });
    expect(body.usage).toEqual({
      input_tokens: body.usage.total_tokens,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: expect.any(Number),
    });
  });

  it('reads messages', async () => {
    const ask = async (input: unknown) => {
      const { json } = await decisions({ input, questions: [predicate] });
      return (json as { answers: { probability: number }[] }).answers[0]?.probability;
    };
    const user = (content: unknown) => ({ role: 'user', content });
    expect(await ask([user('It rains.')])).toBe(await ask('It rains.'));
    const parts = [
      { type: 'input_text', text: 'It rains.' },
      { type: 'input_json', data: [{ a: 1 }] },
    ];
    expect(await ask([user(parts)])).toBe(await ask('It rains.\n[{"a": 1}]'));
    const messages = [{ type: 'message', role: 'system', content: 'A' }, user('B')];
    expect(await ask(messages)).toBe(await ask('system: A\nuser: B'));
  });

  const image = { type: 'input_image', image_url: 'data:image/png;base64,' };
  const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
  it.each<[string, object, string, string]>([
    [
      'no questions',
      { questions: [] },
      'questions',
      'questions: expected 1 to 400 questions, found 0',
    ],
    [
      '401 questions',
      { questions: Array(401).fill(predicate) },
      'questions',
      'questions: expected 1 to 400 questions, found 401',
    ],
    ['no input', { input: undefined, questions: [predicate] }, 'input', 'input: is required'],
    [
      'an image',
      { input: [{ role: 'user', content: [image] }], questions: [predicate] },
      'input',
      'input[0].content[0].type: images are not supported. Send texts only',
    ],
    [
      'an image as instructions',
      { questions: [{ ...predicate, instructions: [image] }] },
      'questions',
      'questions[0].instructions[0].type: images are not supported. Send texts only',
    ],
    [
      'a wrong part',
      { input: [{ role: 'system', content: [{ type: 'input_json' }] }], questions: [predicate] },
      'input',
      'input[0].content[0].type: expected input_text',
    ],
    [
      'a wrong role',
      { input: [{ role: 'x' }], questions: [predicate] },
      'input',
      'input[0].role: expected "user", "developer", "system" or "assistant"',
    ],
    [
      'an inherited name as a role',
      { input: [{ role: 'constructor', content: 'a' }], questions: [predicate] },
      'input',
      'input[0].role: expected "user", "developer", "system" or "assistant"',
    ],
    [
      'deep JSON',
      {
        input: [{ role: 'user', content: [{ type: 'input_json', data: nested(33) }] }],
        questions: [predicate],
      },
      'input',
      'input[0].content[0].data: expected at most 32 levels',
    ],
    [
      'large JSON',
      {
        input: [
          { role: 'user', content: [{ type: 'input_json', data: { a: Array(10_000).fill(0) } }] },
        ],
        questions: [predicate],
      },
      'input',
      'input[0].content[0].data: expected at most 10000 values',
    ],
    [
      'one choice',
      { questions: [{ type: 'choice', instructions: 'a', choices: [{ value: 'a' }] }] },
      'questions',
      'questions[0].choices: expected 2 to 255 choices, found 1',
    ],
    [
      'repeated choices',
      {
        questions: [
          { type: 'choice', instructions: 'a', choices: [{ value: true }, { value: true }] },
        ],
      },
      'questions',
      'questions[0].choices[1].value: repeats the value of another choice',
    ],
    [
      'no instructions',
      { questions: [{ type: 'predicate' }] },
      'questions',
      'questions[0].instructions: is required',
    ],
    [
      'a wrong type',
      { questions: [{ type: 'noul' }] },
      'questions',
      'questions[0].type: expected "predicate", "choice" or "score"',
    ],
  ])('rejects %s', async (_, body, param, message) => {
    const { status, json } = await decisions(body);
    expect(status).toBe(400);
    expect(json).toEqual({ error: { message, type: 'invalid_request_error', param, code: null } });
  });
});

it('POST /v1/decisions rejects an unknown model', async () => {
  const questions = [{ type: 'predicate', instructions: 'It rains.' }];
  const { status, json } = await decisions({ model: 'none', questions });
  expect([status, (json as { error: object }).error]).toEqual([
    404,
    expect.objectContaining({ param: 'model', code: 'model_not_found' }),
  ]);
});

describe('POST /decide', () => {
  it('reports truncation for each question, from the chosen side', async () => {
    const ask = async (body: object) => {
      const questions = [
        { type: 'predicate', instructions: 'It rains.' },
        { type: 'score', name: 'mood', levels: ['good', 'bad'] },
      ];
      return (await decide({ questions, ...body })).json as { answers: { truncated: boolean }[] };
    };
    const { answers } = await ask({});
    expect(answers).toEqual([
      { name: null, type: 'predicate', probability: expect.any(Number), truncated: false },
      {
        name: 'mood',
        type: 'score',
        score: expect.any(Number),
        confidence: expect.any(Number),
        probabilities: [expect.any(Number), expect.any(Number)],
        truncated: false,
      },
    ]);
    const state = `It rains. ${'word '.repeat(100)}The end is good.`;
    const right = await ask({ state });
    expect(right.answers.map(({ truncated }) => truncated)).toEqual([true, true]);
    expect(await ask({ state, truncation_side: 'left' })).not.toEqual(right);
    expect(await ask({ state, truncation_side: 'right' })).toEqual(right);
  });

  it.each([
    [{}, 'questions: is required'],
    [
      { questions: [{ type: 'choice', options: ['a', { label: 'a' }] }] },
      'questions[0].options[1]: repeats the label of another option',
    ],
    [
      { questions: [{ type: 'predicate' }] },
      'questions[0]: expected instructions, or a criterion for true or false',
    ],
    [
      { questions: [{ type: 'score', levels: [] }] },
      'questions[0].levels: expected 1 to 10 levels, found 0',
    ],
  ])('rejects %j', async (body, detail) => {
    const { status, json } = await decide(body);
    expect([status, json]).toEqual([422, { detail }]);
  });
});

it('uses the template of model.json', async () => {
  const questions = [{ type: 'choice', instructions: 'The topic', options: ['film', 'sports'] }];
  const ask = async (model: string, body: object) =>
    (await post(service, `/models/${model}/decide`, { state: STATE, ...body })).json;
  const described = questions[0]?.options.map((label) => ({ label, description: label }));
  const plain = await ask('nli', { questions: [{ type: 'choice', options: described }] });
  expect(await ask('plain', { questions })).toEqual(plain);
  expect(await ask('nli', { questions })).not.toEqual(plain);
});

it('lists models for clients of OpenAI and TypeSafe', async () => {
  const { json } = await request(service, { path: '/v1/models' });
  expect(json).toMatchObject({ object: 'list', models: ['films', 'nli', 'plain'] });
  const headers = { 'x-typesafe-sdk': 'typesafe-sdk/0.7.5' };
  const typeSafe = await request(service, { path: '/v1/models', headers });
  expect((typeSafe.json as { data: object[] }).data).toEqual((json as { data: object[] }).data);
  const release_date = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  expect((typeSafe.json as { models: object[] }).models).toEqual([
    { name: 'nli', description: 'nli', release_date },
    { name: 'plain', description: 'plain', release_date },
  ]);
});

describe('all routes', () => {
  const PATHS = ['/decide', '/v1/decisions', '/v1/systemone'];

  it.each(PATHS)('%s rejects other media types and large bodies', async (path) => {
    const headers = { 'content-type': 'text/plain' };
    const other = await postRaw(service, path, '{}', { headers });
    const large = await postRaw(service, path, ' '.repeat(1024 ** 2 + 1));
    for (const answer of [other, large]) documented.note('POST', path, answer);
    expect([other.status, large.status]).toEqual([415, 413]);
  });

  it.each(['films', 'none'])('/decide rejects the model %s', async (model) => {
    const questions = [{ type: 'predicate', instructions: 'It rains.' }];
    const { status, text } = await decide({ questions, model });
    expect(status).toBe(404);
    expect(text).toContain(`"${model}\\" supports`);
  });

  it('have no other statuses than the documented ones', () => {
    const others = PATHS.flatMap((path) =>
      [...(path === '/decide' ? [400, 500] : [500]), 503, 504].map(
        (status) => `POST ${path} ${status}`,
      ),
    );
    documented.expectAllSeen([...others, 'POST /v1/systemone 400']);
  });
});
