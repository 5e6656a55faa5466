/** Sequences of messages of streams: whatever they are, the process survives, and other clients are served. */
import path from 'node:path';
import { figuresOf } from '../helpers/process-figures';
import { killAll, ROOT, startService } from '../helpers/service';
import { budgeted, report, SEED } from './budget';
import { playSequences } from './stream-sequences';

const SEQUENCES = budgeted({ ci: 400, standard: 12_000, long: 120_000 });
const MEMORY_MB = 400;

afterAll(killAll);

it('sequences of messages end at most their own stream', async () => {
  const service = await startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg') });
  const pid = service.child.pid as number;
  await playSequences(service, SEED + 1, 8);
  const before = figuresOf(pid).residentMb;
  await playSequences(service, SEED, SEQUENCES);
  const grownMb = figuresOf(pid).residentMb - before;
  report('sequences of stream messages', { seed: SEED, sequences: SEQUENCES, grownMb });
  expect(grownMb).toBeLessThan(MEMORY_MB);
  expect(await service.stop()).toMatchObject({ code: 0 });
});
