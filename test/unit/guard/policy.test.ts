import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { guardPolicyStamp, readGuardPolicy } from '../../../src/repository/guard-policy';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'policy-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** `serve FILE`: the file of a model contains no policy. */
it('finds no policy below a file', () => {
  const file = path.join(folder, 'signal.pt2');
  writeFileSync(file, '');
  expect(readGuardPolicy([file], null)).toBeNull();
  expect(guardPolicyStamp([file], null)).toBe('');
});

it('finds the policy of the first folder that contains one', () => {
  writeFileSync(path.join(folder, 'guard.json'), '{"checks": []}');
  expect(readGuardPolicy(['/nowhere', folder], null)).not.toBeNull();
  expect(guardPolicyStamp(['/nowhere', folder], null)).not.toBe('');
});

it('reports a configured policy that does not exist', () => {
  const file = path.join(folder, 'other.json');
  expect(readGuardPolicy([folder], file)).toEqual({ problem: 'other.json: not found' });
});
