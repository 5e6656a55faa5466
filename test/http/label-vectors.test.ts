/** Labels of model.json, which a bi-encoder encodes when it loads. */
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { post } from '../helpers/http';
import { modelsOf, newDirectory, removeDirectories } from '../helpers/models-directory';
import { FIXTURES, type Service } from '../helpers/service';

const TEXT = 'Ada met Bob in London.';
const LABELS = ['person', 'city', 'date of birth'];

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
  service = await directory.start({ env: {} });
});

afterAll(removeDirectories);

it('answers as without these labels', async () => {
  const body = { text: TEXT, labels: LABELS, threshold: 0.3 };
  const ahead = await post(service, '/models/ahead/tag', body);
  const later = await post(service, '/models/later/tag', body);
  expect([ahead.status, ahead.json]).toEqual([200, later.json]);
  expect((ahead.json as { readonly tags: readonly object[] }).tags.length).toBeGreaterThan(0);
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
