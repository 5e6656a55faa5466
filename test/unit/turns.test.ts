import { Turns } from '../../src/http/turns';

/** Resolves when the event loop has come round to its next look at the sockets and timers. */
const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Keeps the event loop busy. */
function work(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

describe('Turns', () => {
  it('runs every task once, in order', async () => {
    const turns = new Turns();
    const ran: number[] = [];
    for (let i = 0; i < 100; i++) turns.begin(() => ran.push(i));
    expect(ran).toEqual([]);
    while (ran.length < 100) await nextRound();
    await nextRound();
    expect(ran).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  it('lets the event loop come round between tasks that take long', async () => {
    const turns = new Turns();
    let done = 0;
    for (let i = 0; i < 5; i++) {
      turns.begin(() => {
        work(2);
        done++;
      });
    }
    const seen: number[] = [];
    while (done < 5) {
      await nextRound();
      seen.push(done);
    }
    expect(seen.filter((count) => count > 0 && count < 5).length).toBeGreaterThanOrEqual(3);
  });

  it('takes tasks that a task adds', async () => {
    const turns = new Turns();
    const ran: string[] = [];
    turns.begin(() => {
      ran.push('first');
      turns.begin(() => ran.push('third'));
    });
    turns.begin(() => ran.push('second'));
    while (ran.length < 3) await nextRound();
    expect(ran).toEqual(['first', 'second', 'third']);
  });
});
