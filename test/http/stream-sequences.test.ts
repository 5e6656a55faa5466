import path from 'node:path';
import { playSequences } from '../fuzz/stream-sequences';
import { killAll, ROOT, startService } from '../helpers/service';

afterAll(killAll);

// More of them, by other seeds: test/fuzz/streams.test.ts.
it('sequences of messages end at most their own stream', async () => {
  const service = await startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg') });
  await playSequences(service, 1, 80);
  expect(await service.stop()).toMatchObject({ code: 0 });
});
