import { RefCountedBytes } from '../../../src/streaming/stream-memory';

describe('RefCountedBytes', () => {
  it('counts shared bytes from the first user to the last', () => {
    const shared = new RefCountedBytes();
    expect([shared.add('a', 10), shared.add('a', 10), shared.add('b', 5)]).toEqual([10, 0, 5]);
    expect([shared.remove('a', 10), shared.remove('b', 5), shared.remove('a', 10)]).toEqual([
      0, 5, 10,
    ]);
    expect(shared.add('a', 10)).toBe(10);
  });
});
