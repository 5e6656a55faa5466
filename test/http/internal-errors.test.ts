/** Errors that no code raised on purpose: clients get a fixed text, the log says where they come from. */
import path from 'node:path';
import { post } from '../helpers/http';
import { FIRST, newDirectory, removeDirectories } from '../helpers/models-directory';
import { ROOT, type Service } from '../helpers/service';

const SCRIPT = path.join(ROOT, 'test/http/scripts/unexpected-error.cjs');
const TEXT = 'a secret text';
const ROUTES: readonly (readonly [path: string, body: object])[] = [
  ['/analyze', { text: TEXT }],
  ['/analyze/batch', { texts: [TEXT] }],
  ['/models/films', { inputs: TEXT }],
  ['/models/films/predict', { inputs: TEXT }],
  ['/predictions/films', { data: TEXT }],
  ['/v1/models/films:predict', { instances: [TEXT] }],
  ['/v1/embeddings', { input: TEXT }],
  ['/embed', { inputs: TEXT }],
  ['/embed_all', { inputs: TEXT }],
  ['/v1/rerank', { query: TEXT, documents: [TEXT] }],
  ['/v2/rerank', { query: TEXT, documents: [TEXT] }],
  ['/score', { text_1: TEXT, text_2: TEXT }],
  ['/rerank', { query: TEXT, texts: [TEXT] }],
  [
    '/v2/models/films/infer',
    { inputs: [{ name: 'TEXT', datatype: 'BYTES', shape: [1], data: [TEXT] }] },
  ],
  ['/tag', { text: TEXT }],
];

let service: Service;

beforeAll(async () => {
  const directory = newDirectory();
  directory.text('films', FIRST);
  directory.text('ranker', 'roberta-one-label', { task: 'reranking' });
  directory.text('embedder', '../embeddings/sentences/v2-mean-normalize');
  directory.text('tokens', '../embeddings/sentences/v6-tokens');
  directory.text('tagger', '../tagging/bert');
  service = await directory.start({ nodeArgs: ['--require', SCRIPT] });
});

afterAll(removeDirectories);

it.each(ROUTES)('%s: no text of the error reaches the client', async (route, body) => {
  const sound = await post(service, route, body);
  expect([route, sound.status, sound.text]).toEqual([route, 200, expect.any(String)]);
  const id = `poisoned${route.replaceAll(/\W/g, '-')}`;
  const { status, text, headers } = await post(service, route, body, {
    headers: { 'x-request-id': id },
  });
  expect(status).toBeGreaterThanOrEqual(424);
  expect(text).toContain(`Search the server log for the request id ${id}.`);
  expect(text + JSON.stringify(headers)).not.toMatch(/secret|Cannot|undefined|\.js|TypeError/);
  const line = await service.lineOf(id);
  expect(line).toMatchObject({ level: 'error', error: 'TypeError', at: expect.any(Array) });
  // Its own frames, without the message: that may quote the text.
  expect(line.at).toContainEqual(expect.stringMatching(/^at .*unexpected-error\.cjs:\d+:\d+/));
  expect(JSON.stringify(line)).not.toContain('secret');
});
