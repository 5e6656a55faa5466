import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { guardSchema } from '../../src/tasks/guard/guard-file';
import { ROOT } from '../helpers/service';

const FILE = path.join(ROOT, 'docs/guard.schema.json');

it('docs/guard.schema.json is that of the code: npm run settings writes it', () => {
  const schema = guardSchema();
  if (process.env.WRITE) writeFileSync(FILE, JSON.stringify(schema));
  expect(JSON.parse(readFileSync(FILE, 'utf8'))).toEqual(schema);
});
