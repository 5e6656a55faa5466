import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '../helpers/http';
import { freePort } from '../helpers/ports';
import {
  EEG_MODEL,
  type Exit,
  killAll,
  MAIN,
  NodeProcess,
  ROOT,
  Service,
  textModel,
} from '../helpers/service';
import { BUDGET, budgeted } from './budget';
import {
  ended,
  endOf,
  keepBusy,
  killedBy,
  PHASES,
  type Phase,
  type Run,
  repeat,
  type ServiceName,
  untilHealthy,
} from './endings';
import { Family } from './family';

const SCRIPTS = path.join(__dirname, 'scripts');
const ENDING = path.join(SCRIPTS, 'ending.cjs');
const PRELOAD = path.join(SCRIPTS, 'preload-end.cjs');
const START = path.join(ROOT, 'scripts', 'start.mjs');

const COUNT = budgeted({ ci: 1, standard: 100, long: 1000 });
const PHASES_TRIED: readonly Phase[] = BUDGET === 'ci' ? ['start', 'inference'] : PHASES;

afterAll(Family.killAll);
afterAll(killAll);

/** `run`, so often in each phase, must end in one of what is expected of the phase. */
async function inEveryPhase(
  what: string,
  expected: (phase: Phase) => readonly Exit[],
  run: (phase: Phase, one: Run) => Promise<Exit>,
): Promise<void> {
  await Promise.all(
    PHASES_TRIED.map((phase) =>
      repeat({ what: `${what}, ${phase}`, count: COUNT, expected: expected(phase) }, (one) =>
        run(phase, one),
      ),
    ),
  );
}

describe('a program with an engine ends in order, whatever it is doing', () => {
  /** About as long as each phase lasts, ms; the moment of the end is drawn from it. */
  const phaseMs: Readonly<Record<Phase, number>> = {
    start: 300,
    idle: 20,
    inference: 100,
    shutdown: 50,
  };

  it.each([
    ['empty loop', ended(0)],
    ['process.exit', ended(7)],
    ['uncaught exception', ended(1)],
    ['unhandled rejection', ended(1)],
    ['worker.terminate', ended(0)],
    ['process.exit around a worker', ended(7)],
  ])('%s', async (way, exit) => {
    await inEveryPhase(
      `program, ${way}`,
      () => [exit],
      async (phase, { service, delay }) => {
        const args = [phase, way, String(delay(phaseMs[phase])), service];
        const program = new NodeProcess({ script: ENDING, args });
        const end = await endOf(program);
        // Only what Node itself prints of an error that nobody caught.
        const stderr = exit.code === 1 ? /Error: nobody (catches|handles) this/ : /^$/;
        expect(program.stderr).toMatch(stderr);
        return end;
      },
    );
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('%s', async (way) => {
    await inEveryPhase(
      `program, ${way}`,
      () => [killedBy(way)],
      async (phase, { service, delay }) => {
        const program = new NodeProcess({ script: ENDING, args: [phase, way, '0', service] });
        await program.waitForLog(({ msg }) => msg === 'begun');
        await sleep(delay(phaseMs[phase]));
        program.kill(way);
        const end = await endOf(program);
        expect(program.stderr).toBe('');
        return end;
      },
    );
  });

  // It writes to a pipe that nobody reads any more, and has nothing that handles the error.
  it('killed parent', async () => {
    await inEveryPhase(
      'program, killed parent',
      () => [ended(1)],
      async (phase, { service, delay }) => {
        const family = Family.runChild([ENDING, phase, 'killed parent', '0', service]);
        await family.waitForLog(({ msg }) => msg === 'begun');
        await sleep(delay(phaseMs[phase]));
        await family.killParent();
        const [orphan] = await family.orphans(/EPIPE/);
        return orphan as Exit;
      },
    );
  });
});

describe('a service ends in order, whatever it is doing', () => {
  const phaseMs: Readonly<Record<Phase, number>> = {
    start: 500,
    idle: 20,
    inference: 100,
    shutdown: 50,
  };
  const settings = {
    ...textModel('bert-single-label'),
    EEG_MODEL_PATH: EEG_MODEL,
    HOST: '127.0.0.1',
    WORKERS: '2',
    MAX_BATCH_REQUESTS: '4',
  };

  /** Brings the phase about, but for what begins the shutdown. */
  async function enter(phase: Phase, service: Address, name: ServiceName): Promise<void> {
    if (phase === 'start') return;
    await untilHealthy(service);
    if (phase !== 'idle') await keepBusy(service, name);
  }

  it.each([
    ['process.exit', ended(7)],
    ['uncaught exception', ended(1)],
    ['unhandled rejection', ended(1)],
  ])('%s', async (way, exit) => {
    const from = { start: 'start', idle: 'SIGUSR2', inference: 'SIGUSR2', shutdown: 'SIGTERM' };
    await inEveryPhase(
      `service, ${way}`,
      // It may have stopped before.
      (phase) => (phase === 'shutdown' ? [exit, ended(0)] : [exit]),
      async (phase, run) => {
        const END_AFTER_MS = String(run.delay(phaseMs[phase]));
        const service = new Service({
          env: {
            ...settings,
            PORT: '0',
            END_BY: way,
            END_FROM: from[phase],
            END_AFTER_MS,
          },
          nodeArgs: ['--require', PRELOAD],
          args: [run.service],
        });
        if (phase !== 'start') {
          const { port } = await service.waitForLog(({ msg }) => msg === 'listening');
          service.port = port as number;
          await enter(phase, service, run.service);
          service.kill(phase === 'shutdown' ? 'SIGTERM' : 'SIGUSR2');
        }
        const end = await endOf(service);
        // An error before the service has its log is Node's to print.
        expect(service.stderr).toMatch(phase === 'start' ? /^$|by the test/ : /^$/);
        return end;
      },
    );
  });

  it.each([
    ['SIGTERM', ended(143)],
    ['SIGINT', ended(130)],
  ] as const)('%s', async (way, forced) => {
    await inEveryPhase(
      `service, ${way}`,
      (phase) => [
        ended(0),
        // The system's own answer, where Node does not handle the signal yet, or no longer.
        ...(phase === 'start' || phase === 'shutdown' ? [killedBy(way)] : []),
        ...(phase === 'shutdown' ? [forced] : []),
      ],
      async (phase, run) => {
        const port = await freePort();
        const env = { ...settings, PORT: String(port) };
        const service = new NodeProcess({ env, args: [run.service] });
        await enter(phase, { port }, run.service);
        if (phase === 'shutdown') service.kill(way);
        await sleep(run.delay(phaseMs[phase]));
        service.kill(way);
        const end = await endOf(service);
        expect(service.stderr).toBe('');
        return end;
      },
    );
  });

  it('killed parent: it goes on, and stops when told to', async () => {
    await inEveryPhase(
      'service, killed parent',
      () => [ended(0)],
      async (phase, run) => {
        const port = await freePort();
        const env = { ...settings, PORT: String(port) };
        const family = Family.runChild([MAIN, run.service], { env });
        const pid = await family.childPid();
        await enter(phase, { port }, run.service);
        if (phase === 'shutdown') process.kill(pid, 'SIGTERM');
        await sleep(run.delay(phaseMs[phase]));
        await family.killParent();
        if (phase !== 'shutdown') {
          await untilHealthy({ port });
          await sleep(run.delay(phaseMs.idle));
          process.kill(pid, 'SIGTERM');
        }
        const [orphan] = await family.orphans(/^$/);
        return orphan as Exit;
      },
    );
  });

  it('killed scripts/start.mjs: both services stop', async () => {
    await inEveryPhase(
      'services, killed scripts/start.mjs',
      () => [ended(0)],
      async (phase, run) => {
        const family = Family.run([START], { env: { ...settings, PORT: '0' } });
        const pid = await family.parentPid();
        for (const name of phase === 'start' ? [] : (['sentiment', 'eeg'] as const)) {
          const { port } = await family.waitForLog(
            ({ msg, service }) => msg === 'listening' && service === name,
          );
          await enter(phase, { port: port as number }, name);
        }
        if (phase === 'shutdown') process.kill(pid, 'SIGTERM');
        await sleep(run.delay(phaseMs[phase]));
        await family.killParent();
        const orphans = await family.orphans(/^$/);
        if (phase === 'idle' || phase === 'inference') expect(orphans).toHaveLength(2);
        return orphans.find(({ code }) => code !== 0) ?? ended(0);
      },
    );
  });
});
