/** Tokens of texts: POST /tokenize (text-embeddings-inference and vLLM), /decode and /detokenize. */
import path from 'node:path';
import { readFixture } from '../../helpers/golden';
import { post } from '../../helpers/http';
import { FIXTURES, killAll, type Service, startService } from '../../helpers/service';

/** Written by test/parity/token_golden.py. */
interface Row {
  readonly model: string;
  readonly text: number;
  readonly special: boolean;
  readonly ids: readonly number[];
  readonly tokens: readonly string[];
  readonly mask: readonly number[];
  readonly offsets: readonly (readonly [number, number])[];
  /** Without and with special tokens. */
  readonly decoded: readonly [string, string];
}

const { texts, rows } = readFixture<{ texts: readonly string[]; rows: readonly Row[] }>(
  'tokens.json',
);
const MODELS = [...new Set(rows.map(({ model }) => model))];

let service: Service;
const ask = (route: string, body: object) => post(service, route, body);

beforeAll(async () => {
  service = await startService('serve', {
    args: MODELS.map((name) => path.join(FIXTURES, 'models', name)),
  });
  await service.waitForLog(({ msg }) => msg === 'models loaded');
});
afterAll(killAll);

describe.each(MODELS)('%s', (model) => {
  const own = rows.filter((row) => row.model === model);

  it('has the tokens of transformers, also of texts that are longer than the model allows', async () => {
    for (const special of [true, false]) {
      const { status, json } = await ask('/tokenize', {
        model,
        inputs: texts,
        add_special_tokens: special,
      });
      expect(status).toBe(200);
      const wanted = own.filter((row) => row.special === special);
      expect(json).toEqual(
        wanted.map(({ ids, tokens, mask, offsets, text }) =>
          ids.map((id, i) => {
            if (mask[i] === 1)
              return { id, text: tokens[i], special: true, start: null, stop: null };
            const points = [...(texts[text] as string)];
            const [first, end] = offsets[i] as [number, number];
            const piece = points.slice(first, end).join('');
            // text-embeddings-inference counts bytes of UTF-8.
            const start = Buffer.byteLength(points.slice(0, first).join(''));
            const stop = start + Buffer.byteLength(piece);
            return { id, text: piece, special: false, start, stop };
          }),
        ),
      );
    }
  });

  it("has vLLM's form", async () => {
    for (const { text, special, ids, tokens } of own) {
      const { json } = await ask('/tokenize', {
        model,
        prompt: texts[text],
        add_special_tokens: special,
        return_token_strs: true,
      });
      expect(json).toMatchObject({ count: ids.length, tokens: ids, token_strs: tokens });
    }
  });

  it('decodes as transformers', async () => {
    for (const { ids, decoded } of own) {
      const [without, whole] = decoded;
      const skipped = await ask('/decode', { model, ids: [ids, ids] });
      expect(skipped.json).toEqual([without, without]);
      const kept = await ask('/decode', { model, ids, skip_special_tokens: false });
      expect(kept.json).toEqual([whole]);
      const { json } = await ask('/detokenize', { model, tokens: ids });
      expect(json).toEqual({ prompt: whole });
    }
  });
});

it('prepends the prompt that the request names', async () => {
  const [model] = MODELS as [string];
  const { status, json } = await ask('/tokenize', { model, inputs: 'a', prompt_name: 'nothing' });
  expect([status, json]).toEqual([422, expect.objectContaining({ error_type: 'Validation' })]);
});

it('has the routes below the address of a model', async () => {
  const [model] = MODELS as [string];
  const { json } = await ask(`/models/${model}/tokenize`, { prompt: 'A quiet film.' });
  expect(json).toMatchObject({ count: rows[0]?.ids.length, token_strs: null });
});

it.each([
  ['/tokenize', { inputs: '' }, 'inputs'],
  ['/tokenize', { inputs: [] }, 'inputs'],
  ['/tokenize', { inputs: ['a', ''] }, 'inputs[1]'],
  ['/decode', { ids: [] }, 'ids'],
  ['/decode', { ids: [[5], []] }, 'ids[1]'],
])('text-embeddings-inference has nothing empty: %s %j', async (route, body, path) => {
  const { status, json } = await ask(route, { model: MODELS[0], ...body });
  const error = `Input validation error: \`${path}\` cannot be empty`;
  expect([status, json]).toEqual([400, { error, error_type: 'Empty' }]);
});

it('vLLM has empty prompts and empty lists of tokens', async () => {
  for (const model of MODELS) {
    const bare = { model, prompt: '', add_special_tokens: false, messages: null, inputs: null };
    expect((await ask('/tokenize', bare)).json).toMatchObject({ count: 0, tokens: [] });
    const special = await ask('/tokenize', { model, inputs: 'a' });
    const ids = (special.json as { id: number; special: boolean }[][])[0]
      ?.filter((token) => token.special)
      .map(({ id }) => id);
    expect((await ask('/tokenize', { model, prompt: '' })).json).toMatchObject({ tokens: ids });
    expect((await ask('/detokenize', { model, tokens: [] })).json).toEqual({ prompt: '' });
  }
});

it('rejects what is no list of texts or IDs', async () => {
  const [model] = MODELS as [string];
  const bodies: readonly (readonly [string, object, RegExp])[] = [
    ['/tokenize', {}, /expected inputs .* or prompt .*, found neither/],
    ['/tokenize', { inputs: 'a', prompt: 'b' }, /expected only one of/],
    ['/tokenize', { inputs: ['a', '\ud800'] }, /inputs\[1\]: .* lone surrogate/],
    ['/tokenize', { messages: [] }, /messages: chat messages are not supported/],
    ['/tokenize', { messages: null }, /expected inputs .* or prompt .*, found neither/],
    ['/tokenize', { prompt: null, messages: [] }, /messages: chat messages/],
    ['/tokenize', { inputs: [1] }, /inputs/],
    ['/tokenize', { prompt: 7 }, /prompt/],
    ['/decode', { ids: [-1] }, /ids/],
    ['/decode', { ids: [[5, 1e9]] }, /ids\[0\]\[1\]: expected a token ID of the model/],
    ['/decode', { ids: 'a' }, /ids/],
    ['/detokenize', { tokens: [1.5] }, /tokens/],
    ['/detokenize', { tokens: [4_294_967_295] }, /tokens\[0\]/],
  ];
  for (const [route, body, message] of bodies) {
    const { status, json } = await ask(route, { model, ...body });
    const isVllm =
      ['prompt', 'messages', 'tokens'].some((key) =>
        Object.entries(body).some(([name, value]) => name === key && value !== null),
      ) && !('inputs' in body);
    expect([body, status]).toEqual([body, isVllm ? 400 : 422]);
    const { error } = json as { error: string & { message: string } };
    expect(isVllm ? error.message : error).toMatch(message);
  }
  expect((await ask('/tokenize', { model: 'nobody', inputs: 'a' })).status).toBe(404);
});
