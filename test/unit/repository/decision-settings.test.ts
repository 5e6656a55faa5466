import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readModelSettings } from '../../../src/repository/model-json';
import { Folder } from '../../helpers/files';

const folder = new Folder();
afterAll(() => folder.remove());

function read(decision: unknown) {
  writeFileSync(path.join(folder.path, 'model.json'), JSON.stringify({ decision }));
  return readModelSettings(folder.path, 'float32').decision;
}

it('has defaults for missing templates', () => {
  expect(read({ template: '{option}' })).toEqual({
    template: '{option}',
    label_template: 'This text is about {option}.',
  });
  expect(read(undefined)).toBeUndefined();
});

it.each([
  [{ template: 'a' }, 'model.json: decision.template: expected {option} once'],
  [
    { label_template: '{instructions} {option}' },
    'model.json: decision.label_template: expected only {option}, found {instructions}',
  ],
  [{ other: 'a' }, /^model\.json: decision: .*other/],
  [{ template: `{option}${'x'.repeat(1024)}` }, /^model\.json: decision\.template: /],
])('rejects %j', (decision, message) => {
  expect(() => read(decision)).toThrow(message);
});
