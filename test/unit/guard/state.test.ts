/** A guard whose file is read again and again: the file that was read last counts. */
import { parseGuardFile } from '../../../src/tasks/guard/guard-file';
import { GuardState } from '../../../src/tasks/guard/guard-state';

/** Patterns that take long to compile, by their number. */
const slow = (count: number): object => ({
  type: 'patterns',
  name: 'slow',
  action: 'flag',
  patterns: { SLOW: Array.from({ length: count }, (_, i) => `x${i}\\w{12}`) },
});
const fast = (name: string) => ({ type: 'patterns', name, action: 'flag', kinds: ['email'] });

const fileOf = (...checks: readonly object[]) => ({
  file: parseGuardFile(JSON.stringify({ checks }), 'guard.json'),
});

const namesOf = ({ guard }: GuardState) => guard?.file.checks.map(({ name }) => name) ?? null;

it('a file that takes long to compile does not replace one that was read after it', async () => {
  const state = new GuardState();
  const order: string[] = [];
  const show = async (name: string, found: Parameters<GuardState['update']>[0]) => {
    await state.update(found);
    order.push(name);
  };
  await Promise.all([show('slow', fileOf(slow(40))), show('fast', fileOf(fast('last')))]);
  expect(namesOf(state)).toEqual(['last']);
  expect(order).toEqual(['slow', 'fast']);
});

it('so it is of any order of files: slow ones, fast ones, bad ones, and none', async () => {
  const state = new GuardState();
  const bad = { problem: 'guard.json: is not JSON' };
  const last = fileOf(fast('last'));
  for (const [sequence, names, reason] of [
    [[fileOf(slow(20)), bad], ['slow'], bad.problem],
    [[fileOf(slow(20)), null], null, null],
    [[bad, fileOf(slow(20)), last], ['last'], null],
    [[last, fileOf(slow(20)), null, bad], null, bad.problem],
    [[fileOf(slow(20)), last, fileOf(slow(10)), last], ['last'], null],
  ] as const) {
    await Promise.all(sequence.map((found) => state.update(found)));
    expect([namesOf(state), state.reason]).toEqual([names, reason]);
  }
});
