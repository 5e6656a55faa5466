import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { roundToFourDecimals } from '../../src/lib/numbers';
import { TaskModel } from '../../src/tasks/task-model';
import { textClassification } from '../../src/tasks/text-classification/text-classification-task';
import { readGolden, readGoldenPairs } from '../helpers/golden';
import { post, postRaw } from '../helpers/http';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES, killAll, type Service, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';

/** Token types make a difference to it; 40 tokens. */
const MODEL = 'bert-single-label';
const pairs = readGoldenPairs(MODEL);
const [first] = pairs as [(typeof pairs)[number]];

let service: Service;

beforeAll(async () => {
  service = await startService('sentiment', { env: textModel(MODEL) });
});

afterAll(killAll);

describe('POST /analyze with text_pair', () => {
  it('answers as the pipeline does, with both texts as they were sent', async () => {
    for (const { text, pair, label, score, truncated } of pairs) {
      const answer = await post(service, '/analyze', { text, text_pair: pair });
      const body = {
        input_text: text,
        input_text_pair: pair,
        label,
        score: roundToFourDecimals(score),
      };
      expect([answer.status, answer.text]).toEqual([200, JSON.stringify(body)]);
      expect(answer.headers['x-input-truncated']).toBe(truncated ? 'true' : undefined);
    }
  });

  it.each([{ text_pair: null }, {}])('answers %j as one text', async (pair) => {
    const golden = readGolden(MODEL).texts.find(({ text }) => text === 'Good.');
    const answer = await post(service, '/analyze', { text: 'Good.', ...pair });
    const { label, score = 0 } = golden ?? {};
    expect(answer.text).toBe(
      JSON.stringify({ input_text: 'Good.', label, score: roundToFourDecimals(score) }),
    );
  });

  it('takes an empty second text for none, and a blank one for a text, as the pipeline does', async () => {
    const ask = async (pair: object) => {
      const { status, json, headers } = await post(service, '/analyze', { text: 'Good.', ...pair });
      expect(status).toBe(200);
      return { ...(json as object), tokens: Number(headers['x-compute-tokens']) };
    };
    const alone = await ask({});
    expect(await ask({ text_pair: '' })).toEqual({ ...alone, input_text_pair: '' });
    const blank = await ask({ text_pair: ' \n' });
    expect(blank).toMatchObject({ input_text_pair: ' \n', tokens: alone.tokens + 1 });
  });

  it('gives a lone surrogate back as it was sent', async () => {
    const body = '{"text":"good","text_pair":"bad \\udc00"}';
    const { status, json } = await postRaw(service, '/analyze', body);
    expect(status).toBe(200);
    expect(json).toMatchObject({ input_text: 'good', input_text_pair: 'bad \udc00' });
  });

  it.each([
    ['{"text":"a","text_pair":5}', 422, 'text_pair: expected a string or null'],
    ['{"text":"a","text_pair":["b"]}', 422, 'text_pair: expected a string or null'],
    ['{"text_pair":"b"}', 422, 'text: is required'],
    ['{"text":" ","text_pair":"b"}', 400, 'Text payload cannot be empty.'],
  ])('%s is %d', async (body, status, detail) => {
    expectError(await postRaw(service, '/analyze', body), status, detail);
  });
});

describe('POST /analyze/batch with pairs', () => {
  it('answers in order what /analyze answers, single texts among them', async () => {
    const asked = pairs.flatMap(({ text, pair }) => [{ text, text_pair: pair }, text, { text }]);
    const answer = await post(service, '/analyze/batch', { texts: asked });
    expect(answer.status).toBe(200);
    const { results } = answer.json as { readonly results: readonly object[] };
    expect(results).toHaveLength(asked.length);
    for (const [index, one] of asked.entries()) {
      const body = typeof one === 'string' ? { text: one } : one;
      const { json } = await post(service, '/analyze', body);
      const { probabilities: _, truncated, ...same } = results[index] as Record<string, unknown>;
      expect(same).toEqual(json);
      expect(typeof truncated).toBe('boolean');
    }
  });

  it.each([
    ['[{"text":"a"},{"text_pair":"b"}]', 422, 'texts[1].text: is required'],
    ['["a",{"text":"b","text_pair":7}]', 422, 'texts[1].text_pair: expected a string or null'],
    ['[["a","b"]]', 422, 'texts[0]: expected a string or an object'],
    ['["a",{"text":"","text_pair":"b"}]', 400, 'texts[1]: Text payload cannot be empty.'],
  ])('%s is %d', async (texts, status, detail) => {
    const body = `{"texts":${texts}}`;
    expectError(await postRaw(service, '/analyze/batch', body), status, detail);
  });

  it('takes a second text of any length with the lane and the bytes of both', async () => {
    const texts = [{ text: first.text, text_pair: `${first.pair} `.repeat(5000) }];
    const { status, json } = await post(service, '/analyze/batch', { texts });
    expect(status).toBe(200);
    expect(json).toMatchObject({ results: [{ truncated: true }] });
  });
});

it('refuses a pair where the tokenizer tells two texts apart and the model does not', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'pairs-'));
  const models = path.join(FIXTURES, 'models');
  cpSync(path.join(models, 'roberta-one-label'), folder, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
    cpSync(path.join(models, 'bert-multi-label-bfloat16', file), path.join(folder, file));
  }
  const classifier = await TaskModel.load(textClassification, folder, SCHEDULING);
  try {
    const single = await classifier.run('film', {});
    expect(single.inference.tokens).toBeGreaterThan(2);
    await expect(
      classifier.runAll(['film', { text: 'film', pair: 'good' }], {}),
    ).rejects.toMatchObject({
      code: 'INFERENCE_FAILED',
      index: 1,
      message: 'the tokenizer returned token type 1, but the model supports types below 1',
    });
  } finally {
    await classifier.close();
    rmSync(folder, { recursive: true });
  }
});
