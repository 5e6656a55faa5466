import { ByteBudget } from '../../src/serving/byte-budget';

/** A budget of 100 bytes, and the names of those that were abort off. */
function budgetOf100(holdTimeoutMs: number) {
  const gone: string[] = [];
  const staying = new Set<string>();
  const abort = (name: string): boolean => {
    if (!staying.has(name)) gone.push(name);
    return !staying.has(name);
  };
  const budget = new ByteBudget<string>({ limit: 100, holdTimeoutMs, abort });
  const begin = (name: string, bytes: number, goes = true) => {
    if (!goes) staying.add(name);
    budget.begin(name, bytes);
  };
  return { budget, gone, begin };
}

it('has room up to its limit, and again when one has ended', () => {
  const { budget, gone, begin } = budgetOf100(60_000);
  expect(budget.hasRoomFor(100)).toBe(true);
  begin('a', 60);
  begin('b', 0);
  budget.add('b', 40);
  expect([budget.held, budget.hasRoomFor(0), budget.hasRoomFor(1)]).toEqual([100, true, false]);
  budget.end('a');
  budget.end('a');
  expect([budget.held, budget.hasRoomFor(60), budget.hasRoomFor(61)]).toEqual([40, true, false]);
  budget.add('a', 1000); // has ended
  expect([budget.held, gone]).toEqual([40, []]);
});

it('cuts off as many as it takes, who began first first, but not who is asking', () => {
  const { budget, gone, begin } = budgetOf100(0);
  for (const name of ['a', 'b', 'c', 'd']) begin(name, 25);
  expect(budget.hasRoomFor(30, 'b')).toBe(true);
  expect([gone, budget.held]).toEqual([['a', 'c'], 50]);
});

it('leaves those whose clients have done their part', () => {
  const { budget, gone, begin } = budgetOf100(0);
  begin('a', 50, false);
  begin('b', 50);
  expect([budget.hasRoomFor(60), gone, budget.held]).toEqual([false, ['b'], 50]);
});
