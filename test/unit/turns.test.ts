import { Turns } from '../../src/http/turns';

/** Resolves when the event loop has come round to its next look at the sockets and timers. */
const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Keeps the event loop busy. */
function work(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

/** Long enough that what comes after it has to wait. */
const A_WHILE_MS = 2;

/** Tasks that take a while, and the names of those that ran. */
function noted() {
  const ran: string[] = [];
  const slow = (name: string) => (): void => {
    work(A_WHILE_MS);
    ran.push(name);
  };
  return { ran, slow };
}

describe('Turns', () => {
  it('does at once what hardly takes any time', () => {
    const turns = new Turns();
    const ran: string[] = [];
    turns.begin(() => ran.push('begun'));
    turns.proceed(() => ran.push('proceeded'));
    expect(ran).toEqual(['begun', 'proceeded']);
    expect(turns.waitMs).toBe(0);
  });

  it('runs every task once, in order', async () => {
    const turns = new Turns();
    const ran: number[] = [];
    for (let i = 0; i < 100; i++) {
      turns.begin(() => {
        work(i === 0 ? A_WHILE_MS : 0.1);
        ran.push(i);
      });
    }
    expect(ran.length).toBeLessThan(100);
    while (ran.length < 100) await nextRound();
    await nextRound();
    expect(ran).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  it('takes the time of what has begun for no wait of what is to begin', async () => {
    const turns = new Turns();
    const { ran, slow } = noted();
    for (let i = 0; i < 5; i++) turns.begin(slow('begun'));
    while (ran.length < 5) await nextRound();
    // Large bodies, for many times as long as the pace looks back.
    const until = performance.now() + 2000;
    while (performance.now() < until) {
      turns.proceed(slow('proceeded'));
      turns.proceed(slow('proceeded'));
      await nextRound();
    }
    turns.proceed(slow('last'));
    turns.begin(slow('waits'));
    expect(turns.waitMs).toBeLessThan(5000);
    while (!ran.includes('waits')) await nextRound();
  });

  it('begins what was pipelined after what was not, and not only when nothing else is left', async () => {
    const turns = new Turns();
    const { ran, slow } = noted();
    turns.begin(slow('first'));
    for (let i = 0; i < 5; i++) turns.beginPipelined(slow('pipelined'));
    for (let i = 0; i < 5; i++) turns.begin(slow('alone'));
    while (ran.length < 11) await nextRound();
    expect(ran.slice(0, 3)).toEqual(['first', 'alone', 'pipelined']);
    expect(ran.slice(-2)).toEqual(['alone', 'pipelined']);
  });

  it('lets the event loop come round between tasks that take long', async () => {
    const turns = new Turns();
    let done = 0;
    for (let i = 0; i < 5; i++) {
      turns.begin(() => {
        work(A_WHILE_MS);
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

  it('ends what has begun before it begins anything else', async () => {
    const turns = new Turns();
    const { ran, slow } = noted();
    turns.begin(slow('first'));
    turns.begin(slow('second'));
    turns.begin(slow('third'));
    turns.proceed(slow('first, on'));
    while (ran.length < 4) await nextRound();
    expect(ran[0]).toBe('first');
    expect(ran[1]).toBe('first, on');
  });

  it('knows from its pace how long a request is going to wait', async () => {
    const turns = new Turns();
    let done = 0;
    const task = (): void => {
      work(A_WHILE_MS);
      done++;
    };
    for (let i = 0; i < 20; i++) turns.begin(task);
    while (done < 10) await nextRound();
    expect(turns.waitMs).toBeGreaterThanOrEqual((20 - done) * A_WHILE_MS);
    while (done < 20) await nextRound();
    expect(turns.waitMs).toBe(0);
  });

  it('answers refusals beside what has to wait', async () => {
    const turns = new Turns();
    let done = 0;
    let refused = 0;
    for (let i = 0; i < 10; i++) {
      turns.begin(() => {
        work(A_WHILE_MS);
        done++;
      });
    }
    turns.refuse(() => refused++);
    while (refused === 0) await nextRound();
    expect(done).toBeLessThan(10);
    while (done < 10) await nextRound();
  });

  it('waits for new connections, but not for long', async () => {
    const turns = new Turns();
    let done = 0;
    const task = (): void => {
      work(A_WHILE_MS);
      done++;
    };
    for (let i = 0; i < 3; i++) turns.begin(task);
    while (done < 3) {
      turns.hurry();
      await nextRound();
    }
  });
});
