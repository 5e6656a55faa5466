import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
import { budgeted } from './budget';
import {
  type Address,
  ended,
  endOf,
  freePort,
  isHealthy,
  keepBusy,
  killedBy,
  PHASES,
  type Phase,
  repeat,
  type ServiceName,
} from './endings';
import { Family } from './family';

const SCRIPTS = path.join(__dirname, 'scripts');
const ENDING = path.join(SCRIPTS, 'ending.cjs');
const PRELOAD = path.join(SCRIPTS, 'preload-end.cjs');
const START = path.join(ROOT, 'scripts', 'start.mjs');

const COUNT = budgeted({ ci: 1, standard: 100, long: 1000 });

const onLinux = process.platform === 'linux' ? describe : describe.skip;

afterAll(Family.killAll);
afterAll(killAll);

/** About as long as each phase lasts, ms; the moment of the end is drawn from it. */
const PROGRAM_PHASE_MS: Readonly<Record<Phase, number>> = {
  start: 300,
  idle: 20,
  inference: 100,
  shutdown: 50,
};

describe('a program with an engine ends in order', () => {
  const byItself: readonly (readonly [way: string, Exit])[] = [
    ['empty loop', ended(0)],
    ['process.exit', ended(7)],
    ['uncaught exception', ended(1)],
    ['unhandled rejection', ended(1)],
    ['worker.terminate', ended(0)],
    ['process.exit around a worker', ended(7)],
  ];
  const cells = byItself.flatMap(([way, exit]) => PHASES.map((phase) => ({ way, phase, exit })));

  it.each(cells)('$way during $phase', async ({ way, phase, exit }) => {
    await repeat(`program, ${way}, ${phase}`, { count: COUNT, expected: [exit] }, async (run) => {
      const delay = run.delay(PROGRAM_PHASE_MS[phase]);
      const args = [phase, way, String(delay), run.service];
      const program = new NodeProcess({ script: ENDING, args });
      const end = await endOf(program);
      // Only what Node itself prints of an error that nobody caught.
      expect(program.stderr).toMatch(
        exit.code === 1 ? /Error: nobody (catches|handles) this/ : /^$/,
      );
      return end;
    });
  });

  const bySignal = (['SIGTERM', 'SIGINT'] as const).flatMap((way) =>
    PHASES.map((phase) => ({ way, phase })),
  );

  it.each(bySignal)('$way during $phase', async ({ way, phase }) => {
    const expected = [killedBy(way)];
    await repeat(`program, ${way}, ${phase}`, { count: COUNT, expected }, async (run) => {
      const program = new NodeProcess({ script: ENDING, args: [phase, way, '0', run.service] });
      await program.waitForLog(({ msg }) => msg === 'begun');
      await sleep(run.delay(PROGRAM_PHASE_MS[phase]));
      program.kill(way);
      const end = await endOf(program);
      expect(program.stderr).toBe('');
      return end;
    });
  });

  // It writes to a pipe that nobody reads any more, and has nothing that handles the error.
  onLinux('killed parent', () => {
    it.each(PHASES)('during %s', async (phase) => {
      const what = `program, killed parent, ${phase}`;
      await repeat(what, { count: COUNT, expected: [ended(1)] }, async (run) => {
        const family = Family.runChild([ENDING, phase, 'killed parent', '0', run.service]);
        await family.waitForLog(({ msg }) => msg === 'begun');
        await sleep(run.delay(PROGRAM_PHASE_MS[phase]));
        await family.killParent();
        const [orphan] = await family.orphans(/EPIPE/);
        return orphan as Exit;
      });
    });
  });
});

const SERVICE_PHASE_MS: Readonly<Record<Phase, number>> = {
  start: 500,
  idle: 20,
  inference: 100,
  shutdown: 50,
};

const SETTINGS = {
  ...textModel('bert-single-label'),
  EEG_MODEL_PATH: EEG_MODEL,
  HOST: '127.0.0.1',
  WORKERS: '2',
  MAX_BATCH_REQUESTS: '4',
};

/** Brings the phase about, but for what begins the shutdown. */
async function enter(phase: Phase, service: Address, name: ServiceName): Promise<void> {
  if (phase === 'start') return;
  while (!(await isHealthy(service))) await sleep(5);
  if (phase === 'idle') return;
  await keepBusy(service, name);
}

describe('a service ends in order', () => {
  const byItself = (['process.exit', 'uncaught exception', 'unhandled rejection'] as const).flatMap(
    (way) => PHASES.map((phase) => ({ way, phase })),
  );

  it.each(byItself)('$way during $phase', async ({ way, phase }) => {
    const exit = ended(way === 'process.exit' ? 7 : 1);
    // It may have stopped in order before.
    const expected = phase === 'shutdown' ? [exit, ended(0)] : [exit];
    await repeat(`service, ${way}, ${phase}`, { count: COUNT, expected }, async (run) => {
      const from = { start: 'start', idle: 'SIGUSR2', inference: 'SIGUSR2', shutdown: 'SIGTERM' };
      const END_AFTER_MS = String(run.delay(SERVICE_PHASE_MS[phase]));
      const service = new Service({
        env: { ...SETTINGS, PORT: '0', END_BY: way, END_FROM: from[phase], END_AFTER_MS },
        nodeArgs: ['--require', PRELOAD],
        args: [run.service],
      });
      if (phase !== 'start') {
        service.port = (await service.waitForLog(({ msg }) => msg === 'listening')).port as number;
        await enter(phase, service, run.service);
        service.kill(phase === 'shutdown' ? 'SIGTERM' : 'SIGUSR2');
      }
      const end = await endOf(service);
      // An error before the service has its log is Node's to print.
      expect(service.stderr).toMatch(phase === 'start' ? /^$|by the test/ : /^$/);
      return end;
    });
  });

  const bySignal = [
    { way: 'SIGTERM', forced: ended(143) },
    { way: 'SIGINT', forced: ended(130) },
  ] as const;
  const cells = bySignal.flatMap((signal) => PHASES.map((phase) => ({ ...signal, phase })));

  it.each(cells)('$way during $phase', async ({ way, forced, phase }) => {
    const expected = [ended(0)];
    // The system's own answer to a signal, where Node does not handle it yet, or no longer.
    if (phase === 'start' || phase === 'shutdown') expected.push(killedBy(way));
    if (phase === 'shutdown') expected.push(forced);
    await repeat(`service, ${way}, ${phase}`, { count: COUNT, expected }, async (run) => {
      const port = await freePort();
      const env = { ...SETTINGS, PORT: String(port) };
      const service = new NodeProcess({ env, args: [run.service] });
      await enter(phase, { port }, run.service);
      if (phase === 'shutdown') service.kill(way);
      await sleep(run.delay(SERVICE_PHASE_MS[phase]));
      service.kill(way);
      const end = await endOf(service);
      expect(service.stderr).toBe('');
      return end;
    });
  });
});

onLinux('a service whose parent is killed', () => {
  it.each(PHASES)('during %s goes on, and stops when told to', async (phase) => {
    const what = `service, killed parent, ${phase}`;
    await repeat(what, { count: COUNT, expected: [ended(0)] }, async (run) => {
      const port = await freePort();
      const env = { ...SETTINGS, PORT: String(port) };
      const family = Family.runChild([MAIN, run.service], { env });
      const pid = await family.childPid();
      await enter(phase, { port }, run.service);
      if (phase === 'shutdown') process.kill(pid, 'SIGTERM');
      await sleep(run.delay(SERVICE_PHASE_MS[phase]));
      await family.killParent();
      if (phase !== 'shutdown') {
        while (!(await isHealthy({ port }))) await sleep(5);
        await sleep(run.delay(SERVICE_PHASE_MS.idle));
        process.kill(pid, 'SIGTERM');
      }
      const [orphan] = await family.orphans(/^$/);
      return orphan as Exit;
    });
  });
});

onLinux('scripts/start.mjs', () => {
  it.each(PHASES)('killed during %s leaves no service behind', async (phase) => {
    const what = `scripts/start.mjs, killed, ${phase}`;
    await repeat(what, { count: COUNT, expected: [ended(0)] }, async (run) => {
      const family = Family.run([START], { env: { ...SETTINGS, PORT: '0' } });
      const pid = await family.parentPid();
      for (const name of phase === 'start' ? [] : (['sentiment', 'eeg'] as const)) {
        const { port } = await family.waitForLog(
          ({ msg, service }) => msg === 'listening' && service === name,
        );
        await enter(phase, { port: port as number }, name);
      }
      if (phase === 'shutdown') process.kill(pid, 'SIGTERM');
      await sleep(run.delay(SERVICE_PHASE_MS[phase]));
      await family.killParent();
      const orphans = await family.orphans(/^$/);
      return orphans.find(({ code }) => code !== 0) ?? ended(0);
    });
  });
});
