import { EventLoopScheduler } from '../../src/serving/event-loop-scheduler';

/** What Scheduler takes the time from; it goes on by what work and rounds take, so that nobody has to wait. */
let clockMs = 0;

beforeEach(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => clockMs);
});

afterEach(() => jest.restoreAllMocks());

/** Of a round of the event loop that finds nothing to do. */
const ROUND_MS = 0.05;
/** Far more rounds than any test needs. */
const MOST_ROUNDS = 10_000;

/** Resolves when the event loop has come round to its next look at the sockets and timers. */
function nextRound(): Promise<void> {
  clockMs += ROUND_MS;
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets the event loop come round until `isSo`. */
async function rounds(what: string, isSo: () => boolean): Promise<void> {
  for (let count = 0; !isSo(); count++) {
    if (count === MOST_ROUNDS) throw new Error(`${MOST_ROUNDS} rounds brought no ${what}`);
    await nextRound();
  }
}

/** Long enough that what comes after it has to wait. */
const A_WHILE_MS = 2;

/** Tasks that take a while, and the names of those that ran. */
function noted() {
  const ran: string[] = [];
  const slow =
    (name: string, milliseconds = A_WHILE_MS) =>
    (): void => {
      clockMs += milliseconds;
      ran.push(name);
    };
  return { ran, slow };
}

describe('Scheduler', () => {
  it('does at once what hardly takes any time', () => {
    const turns = new EventLoopScheduler();
    const ran: string[] = [];
    turns.begin(() => ran.push('begun'));
    turns.proceed(() => ran.push('proceeded'));
    expect(ran).toEqual(['begun', 'proceeded']);
    expect(turns.waitMs).toBe(0);
  });

  it('runs every task once, in order', async () => {
    const turns = new EventLoopScheduler();
    const { ran, slow } = noted();
    for (let i = 0; i < 100; i++) turns.begin(slow(`${i}`, i === 0 ? A_WHILE_MS : 0.1));
    expect(ran).toEqual(['0']);
    await rounds('end of 100 tasks', () => ran.length === 100);
    await nextRound();
    expect(ran).toEqual(Array.from({ length: 100 }, (_, i) => `${i}`));
  });

  it('takes the time of what has begun for no wait of what is to begin', async () => {
    const turns = new EventLoopScheduler();
    const { ran, slow } = noted();
    for (let i = 0; i < 5; i++) turns.begin(slow('begun'));
    await rounds('end of 5 tasks', () => ran.length === 5);
    // Large bodies, for many times as long as the pace looks back.
    for (const end = clockMs + 2000; clockMs < end; ) {
      turns.proceed(slow('proceeded'));
      turns.proceed(slow('proceeded'));
      await nextRound();
    }
    turns.proceed(slow('last'));
    turns.begin(slow('waits'));
    expect(turns.waitMs).toBeLessThan(5000);
    await rounds('turn of the one that waits', () => ran.includes('waits'));
    await rounds('end of all', () => ran.includes('last'));
  });

  it('begins what was pipelined after what was not, and not only when nothing else is left', async () => {
    const turns = new EventLoopScheduler();
    const { ran, slow } = noted();
    turns.begin(slow('first'));
    for (let i = 0; i < 5; i++) turns.beginPipelined(slow('pipelined'));
    for (let i = 0; i < 5; i++) turns.begin(slow('alone'));
    await rounds('end of 11 tasks', () => ran.length === 11);
    expect(ran.slice(0, 3)).toEqual(['first', 'alone', 'pipelined']);
    expect(ran.slice(-2)).toEqual(['alone', 'pipelined']);
  });

  it('lets the event loop come round between tasks that take long', async () => {
    const turns = new EventLoopScheduler();
    const { ran, slow } = noted();
    for (let i = 0; i < 5; i++) turns.begin(slow('one'));
    for (let done = 1; done <= 5; done++) {
      expect(ran).toHaveLength(done);
      await nextRound();
    }
  });

  it('ends what has begun before it begins anything else', async () => {
    const turns = new EventLoopScheduler();
    const { ran, slow } = noted();
    turns.begin(slow('first'));
    turns.begin(slow('second'));
    turns.begin(slow('third'));
    turns.proceed(slow('first, on'));
    await rounds('end of 4 tasks', () => ran.length === 4);
    expect(ran[0]).toBe('first');
    expect(ran[1]).toBe('first, on');
  });

  it('knows from its pace how long a request is going to wait', async () => {
    const turns = new EventLoopScheduler();
    const { ran, slow } = noted();
    for (let i = 0; i < 200; i++) turns.begin(slow('one'));
    await rounds('end of 150 tasks', () => ran.length === 150);
    expect(turns.waitMs).toBeCloseTo(50 * (A_WHILE_MS + ROUND_MS), 0);
    await rounds('end of 200 tasks', () => ran.length === 200);
    expect(turns.waitMs).toBe(0);
  });

  it.each([
    { slowOnes: 1, slowMs: 100 },
    { slowOnes: 5, slowMs: 20 },
    { slowOnes: 20, slowMs: 5 },
    { slowOnes: 100, slowMs: 1 },
    { slowOnes: 30, slowMs: 20 },
  ])('does not take a cold start for its pace: $slowOnes × $slowMs ms', async (cold) => {
    const turns = new EventLoopScheduler();
    const { ran, slow } = noted();
    const tasks = 300;
    const begin = clockMs;
    for (let i = 0; i < tasks; i++) {
      turns.begin(slow('one', i < cold.slowOnes ? cold.slowMs : 0.5));
    }
    let longest = 0;
    await rounds('end of the burst', () => {
      longest = Math.max(longest, turns.waitMs);
      return ran.length === tasks;
    });
    expect(longest).toBeLessThan(clockMs - begin);
  });

  it('does not take bursts of a few requests for its pace', async () => {
    const turns = new EventLoopScheduler();
    const { ran, slow } = noted();
    for (let burst = 1; burst <= 500; burst++) {
      for (const ms of [0.3, 0.05, 0.05]) turns.begin(slow('one', ms));
      clockMs += 5; // of the sockets
      await rounds('end of a small burst', () => ran.length === 3 * burst);
    }
    for (let i = 0; i < 300; i++) turns.begin(slow('one', 0.1));
    expect(turns.waitMs).toBeLessThan(100);
    await rounds('end of 300 tasks', () => ran.length === 1800);
  });

  it('knows the wait of a real overload once it has lasted that long', async () => {
    const turns = new EventLoopScheduler();
    const { ran, slow } = noted();
    for (let i = 0; i < 2000; i++) turns.begin(slow('one'));
    const start = clockMs;
    await rounds('known wait', () => turns.waitMs > 1000);
    expect(clockMs - start).toBeLessThan(1100);
    await rounds('end of all', () => ran.length === 2000);
  });

  it('answers refusals beside what has to wait', async () => {
    const turns = new EventLoopScheduler();
    const { ran, slow } = noted();
    for (let i = 0; i < 10; i++) turns.begin(slow('one'));
    turns.reject(() => ran.push('refused'));
    await rounds('refusal', () => ran.includes('refused'));
    expect(ran.length).toBeLessThan(10);
    await rounds('end of all', () => ran.length === 11);
  });

  it('waits for new connections, but not for long', async () => {
    const turns = new EventLoopScheduler();
    const { ran, slow } = noted();
    for (let i = 0; i < 3; i++) turns.begin(slow('one'));
    const from = clockMs;
    await rounds('end of 3 tasks', () => {
      turns.onNewConnection();
      return ran.length === 3;
    });
    // Of each of the two that had to wait.
    expect((clockMs - from) / 2).toBeCloseTo(2 + A_WHILE_MS, 0);
  });
});
