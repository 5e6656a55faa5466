/** The OpenAPI document and what the services do: of every operation, and of requests that it allows or forbids. */
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import { post, request } from '../helpers/http';
import { FIRST, newDirectory, removeDirectories } from '../helpers/models-directory';
import { ROOT, type Service, startService, textModel } from '../helpers/service';

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: object }>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** Requests that are wrong before anything looks at what the route means. */
const WRONG: readonly { readonly headers?: object; readonly body?: string }[] = [
  { headers: { 'x-request-timeout-ms': '0' }, body: '{}' },
  { headers: { 'x-request-timeout-ms': 'soon' }, body: '[0]' },
  { body: '' },
  { body: '{' },
  { body: '{}' },
  { body: '[]' },
  { body: 'null' },
  { body: '\u0000' },
  { body: ' '.repeat(1_100_000) },
  { headers: { 'content-type': 'text/plain' }, body: 'x' },
  { headers: { 'content-type': 'application/json; charset=latin1' }, body: '{}' },
  { headers: { 'content-encoding': 'zstd' }, body: '{}' },
  { headers: { 'content-encoding': 'gzip' }, body: 'no gzip' },
];

const documentOf = async (service: Service): Promise<Document> =>
  (await request(service, { path: '/openapi.json' })).json as Document;

afterAll(removeDirectories);

const START: Readonly<Record<string, () => Promise<Service>>> = {
  sentiment: () => startService('sentiment', { env: textModel(FIRST) }),
  eeg: () => startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg') }),
  models: () => {
    const directory = newDirectory();
    directory.text('films', FIRST);
    directory.text('ranker', 'roberta-one-label', { task: 'reranking' });
    directory.text('embedder', '../embeddings/sentences/v2-mean-normalize');
    directory.text('tagger', '../tagging/bert');
    directory.signal('waves');
    return directory.start();
  },
};

it.each(Object.keys(START))('%s: every status of every operation is documented', async (name) => {
  const service = await (START[name] as () => Promise<Service>)();
  const { paths } = await documentOf(service);
  const undocumented: unknown[] = [];
  for (const [template, methods] of Object.entries(paths)) {
    const place = template.replaceAll(/\{\w+\}/g, 'none');
    for (const [method, { responses }] of Object.entries(methods)) {
      for (const wrong of method === 'get' ? [{}] : WRONG) {
        const { headers = {}, body = '' } = wrong as (typeof WRONG)[number];
        const length = { 'content-length': Buffer.byteLength(body) };
        const { status } = await request(service, {
          method: method.toUpperCase(),
          path: place,
          ...(method !== 'get' && {
            body,
            headers: { 'content-type': 'application/json', ...length, ...headers },
          }),
        });
        if (!(status in responses))
          undocumented.push({ method, template, headers, body: body.slice(0, 9), status });
      }
    }
  }
  expect(undocumented).toEqual([]);
  await service.stop();
});

it('the schemas of /analyze accept what the service accepts', async () => {
  const service = await startService('sentiment', { env: textModel(FIRST) });
  const { components } = await documentOf(service);
  const ajv = new Ajv2020({ strict: false });
  const [one, list] = ['AnalyzeRequest', 'AnalyzeBatchRequest'].map((name) =>
    ajv.compile(components.schemas[name] as object),
  );
  const texts = ['good', '', ' ', { text: 'good', text_pair: 'bad' }, { text: ' ' }];
  const pairs = [undefined, null, '', 'bad'];
  for (const long_texts of [undefined, null, 'truncate', 'windows']) {
    for (const text_pair of pairs) {
      for (const text of ['good', '', ' \t']) {
        const body = { text, text_pair, long_texts };
        const sent = JSON.parse(JSON.stringify(body));
        const { status } = await post(service, '/analyze', body);
        expect([sent, one?.(sent)]).toEqual([sent, status === 200]);
      }
    }
    for (const text of texts) {
      const sent = JSON.parse(JSON.stringify({ texts: ['good', text], long_texts }));
      const { status } = await post(service, '/analyze/batch', sent);
      expect([sent, list?.(sent)]).toEqual([sent, status === 200]);
    }
  }
  await service.stop();
});
