import v8 from 'node:v8';
import vm from 'node:vm';
import { CompactingMap } from '../../src/lib/compacting-map';

/** Entries that are there at once, and those that pass. */
const AT_ONCE = 8;
const PASSING = 4000;
const NUMBERS = 256;

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as (options?: { type: 'minor' }) => void;

/** Bytes that stay when so many entries have passed, as long as the old space is not collected. */
function bytesLeft(map: CompactingMap<number, number[]>): number {
  for (let key = 0; key < AT_ONCE; key++) map.set(key, []);
  collect(); // from here on its table is in the old space
  const before = v8.getHeapStatistics().used_heap_size;
  for (let key = AT_ONCE; key < PASSING; key++) {
    map.set(key, Array(NUMBERS).fill(key + 0.5));
    map.delete(key - AT_ONCE);
    if (key % 100 === 0) collect({ type: 'minor' });
  }
  collect({ type: 'minor' });
  return v8.getHeapStatistics().used_heap_size - before;
}

describe('CompactingMap', () => {
  it('keeps nothing of what has passed', () => {
    const all = PASSING * NUMBERS * 8;
    expect(bytesLeft(new CompactingMap())).toBeLessThan(all / 4);
  });

  it('has what a Map has, in its order, however much has passed', () => {
    const [map, passing] = [new Map<number, string>(), new CompactingMap<number, string>()];
    for (let turn = 0; turn < 1000; turn++) {
      const key = (turn * 7919) % 31;
      const isDeleted = turn % 3 === 0;
      if (isDeleted) expect(passing.delete(key)).toBe(map.delete(key));
      else for (const one of [map, passing]) one.set(key, `${turn}`);
      expect([...passing]).toEqual([...map]);
      expect(passing.get(key)).toBe(map.get(key));
    }
    expect([...passing.keys(), ...passing.values(), passing.size]).toEqual([
      ...map.keys(),
      ...map.values(),
      map.size,
    ]);
  });

  it('can be emptied while it is gone through', () => {
    const passing = new CompactingMap<number, null>();
    for (let key = 0; key < 300; key++) passing.set(key, null);
    const seen: number[] = [];
    for (const [key] of passing) {
      seen.push(key);
      passing.delete(key);
      passing.delete(key + 1);
    }
    expect([seen.length, passing.size]).toEqual([150, 0]);
  });
});
