/** Labels of model.json, which a bi-encoder encodes when it loads: the first request does not wait for them. */
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { post } from '../helpers/http';
import { modelsOf, newDirectory, removeDirectories } from '../helpers/models-directory';
import { FIXTURES, type Service } from '../helpers/service';

const TEXT = 'Ada met Bob in London.';
/** Together just below the limit of 8192 tokens: encoding them takes far longer than reading the text. */
const LABELS = Array.from({ length: 200 }, (_, i) => `label ${i} ${'of a long name '.repeat(4)}`);

let service: Service;

beforeAll(async () => {
  const directory = newDirectory();
  const copy = (name: string, fixture: string, settings: object | null) => {
    const folder = path.join(directory.path, name);
    cpSync(path.join(FIXTURES, 'gliner', fixture), folder, { recursive: true });
    if (settings) writeFileSync(path.join(folder, 'model.json'), JSON.stringify(settings));
  };
  copy('ahead', 'bi-modernbert-marker', { labels: LABELS });
  copy('later', 'bi-modernbert-marker', null);
  copy('prompt', 'deberta-marker-v0', { labels: ['person'] });
  copy('empty', 'bi-modernbert-marker', { labels: [' '] });
  service = await directory.start({ env: { WORKERS: '1' } });
});

afterAll(removeDirectories);

async function tag(model: string): Promise<{ readonly ms: number; readonly tags: unknown }> {
  const body = { text: TEXT, labels: LABELS, threshold: 0.3 };
  const begin = performance.now();
  const { status, json } = await post(service, `/models/${model}/tag`, body);
  expect(status).toBe(200);
  return { ms: performance.now() - begin, tags: (json as { readonly tags: unknown }).tags };
}

it('answers the first request as fast as later ones', async () => {
  const ahead = await tag('ahead');
  const later = await tag('later');
  expect(ahead.tags).toEqual(later.tags);
  const again = await tag('later');
  expect(again.tags).toEqual(later.tags);
  // A run over thousands of tokens, compared with a look-up.
  expect(later.ms).toBeGreaterThan(3 * again.ms);
  expect(ahead.ms).toBeLessThan(later.ms / 2);
});

it('rejects labels for other models, and labels without text', async () => {
  const models = await modelsOf(service);
  const reasonOf = (name: string) => models.find((model) => model.name === name);
  expect(JSON.stringify(reasonOf('prompt'))).toContain(
    'model.json: labels: expected a GLiNER model with an encoder of labels. Remove it',
  );
  expect(JSON.stringify(reasonOf('empty'))).toContain(
    'model.json: labels.0: expected a label, which is a text',
  );
});
