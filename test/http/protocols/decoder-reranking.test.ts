import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readFixture } from '../../helpers/golden';
import { post } from '../../helpers/http';
import { ModelsDirectory, modelOf } from '../../helpers/models-directory';
import { FIXTURES, killAll, type Service } from '../../helpers/service';

const ROOT = 'decoder-rerankers';
const models = new ModelsDirectory();
let service: Service;

/** Copies a reranker under a name; entries of `changes` are merged into its JSON files. */
function add(fixture: string, name: string, changes: Readonly<Record<string, object>> = {}): void {
  const target = path.join(models.folder.path, name);
  cpSync(path.join(FIXTURES, ROOT, fixture), target, { recursive: true });
  for (const [file, entries] of Object.entries(changes)) {
    const place = path.join(target, file);
    const known = file === 'model.json' ? {} : JSON.parse(readFileSync(place, 'utf8'));
    writeFileSync(place, JSON.stringify({ ...known, ...entries }));
  }
}

const LOGITS = '1_LogitScore/config.json';
const SETTINGS = 'config_sentence_transformers.json';
const TRANSFORMER = 'sentence_bert_config.json';
const message = { method: 'forward', method_output_name: 'logits' };

const REJECTED = {
  'false-token': [{ [LOGITS]: { false_token_id: 100_000 } }, /token of the vocabulary.*100000/],
  input: [{ [LOGITS]: { module_input_name: 'logits' } }, /module_input_name: .*causal_logits/],
  key: [{ [LOGITS]: { temperature: 2 } }, /temperature: is not supported/],
  prompt: [{ [SETTINGS]: { default_prompt_name: 'other' } }, /"other" is not in prompts/],
  call: [
    { [TRANSFORMER]: { processing_kwargs: { chat_template: { max_length: 8 } } } },
    /max_length: expected none, received 8. Move it to processing_kwargs.text/,
  ],
  text: [
    { [TRANSFORMER]: { modality_config: { text: message } } },
    /modality_config.message.method_output_name: expected "logits"/,
  ],
  'unknown-reranker': [
    { 'config.json': { model_type: 'llama' } },
    /model_type: expected gemma, qwen2, qwen3 for a reranker without modules.json, found "llama"/,
  ],
  writer: [{}, /found Qwen2ForCausalLM/],
} as const;

/** Fixtures without settings of sentence-transformers. */
const PLAIN: Readonly<Record<string, string>> = { 'unknown-reranker': 'qwen3', writer: 'qwen2' };

beforeAll(async () => {
  add('chat-qwen3', 'chat', { 'model.json': { default: true } });
  add('qwen3', 'tiny-Reranker');
  add('qwen2', 'mixed', { 'model.json': { task: 'reranking' } });
  for (const [name, [changes]] of Object.entries(REJECTED)) {
    add(PLAIN[name] ?? 'chat-qwen3', name, changes);
  }
  service = await models.start();
});

afterAll(async () => {
  await killAll();
  models.folder.remove();
});

interface Golden {
  readonly answers: readonly {
    readonly query: string;
    readonly documents: readonly string[];
    readonly scores: readonly number[];
  }[];
}

interface Ranking {
  readonly results: readonly { readonly index: number; readonly relevance_score: number }[];
}

describe('a decoder that reranks', () => {
  it.each([
    ['chat', 'chat-qwen3'],
    ['tiny-Reranker', 'qwen3'],
    ['mixed', 'qwen2'],
  ])('%s responds with the scores of its library', async (model, fixture) => {
    const { answers } = readFixture<Golden>(ROOT, fixture, 'golden.json');
    for (const { query, documents, scores } of answers) {
      const { status, json } = await post(service, '/v2/rerank', { model, query, documents });
      expect(status).toBe(200);
      const { results } = json as Ranking;
      expect(results).toHaveLength(documents.length);
      for (const { index, relevance_score } of results) {
        expect(relevance_score).toBeCloseTo(scores[index] as number, 4);
      }
    }
  });

  it('serves requests without a model', async () => {
    const { status, json } = await post(service, '/rerank', { query: 'a', texts: ['b', 'c'] });
    expect(status).toBe(200);
    expect(json).toHaveLength(2);
  });
});

describe('a folder that is not loaded', () => {
  it.each(Object.entries(REJECTED))('%s: /info says why', async (name, [, reason]) => {
    const model = await modelOf(service, name);
    expect(model?.serving).toBeNull();
    const { reason: versionReason = null } = model?.versions[0] ?? {};
    expect(model?.reason ?? versionReason).toMatch(reason);
  });
});

it.each(['chat', 'tiny-Reranker', 'mixed'])(
  'max_tokens_per_doc of Cohere truncates documents of %s before the prompt',
  async (model) => {
    const scores = async (documents: readonly string[], max_tokens_per_doc?: number) => {
      const body = { model, query: 'rain', documents, max_tokens_per_doc };
      const { status, json } = await post(service, '/v2/rerank', body);
      expect({ status, json }).toMatchObject({ status: 200 });
      const { results } = json as { results: { index: number; relevance_score: number }[] };
      return results.toSorted((a, b) => a.index - b.index);
    };
    const texts = ['It rains all day in the town.', 'short'];
    const body = { model, inputs: 'It rains all day', add_special_tokens: false };
    const [tokens] = (await post(service, '/tokenize', body)).json as [object[]];
    expect(await scores(texts, tokens.length)).toEqual(await scores(['It rains all day', 'short']));
    expect(await scores(texts, 32)).toEqual(await scores(texts));
  },
);
