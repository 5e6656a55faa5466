/** What the other event loops do while one of them does nothing. */
import { askAll, LoopBlocker } from '../helpers/event-loops';
import { Folder } from '../helpers/files';
import { post } from '../helpers/http';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { until } from '../helpers/until';

const LOOPS = 3;
const MODEL = textModel('bert-single-label');
const BODY = { text: 'good' };

const folder = new Folder();
let blocker: LoopBlocker;
beforeEach(() => {
  blocker = new LoopBlocker();
});
afterEach(async () => {
  await killAll();
  blocker.remove();
});
afterAll(() => folder.remove());

function start(env: Readonly<Record<string, string>>): Promise<Service> {
  const { nodeArgs } = blocker;
  const settings = { ...MODEL, EVENT_LOOPS: String(LOOPS), ...blocker.env, ...env };
  return startService('sentiment', { nodeArgs, env: settings });
}

it('gets the keys that were read meanwhile, not what the file has become since', async () => {
  const [old, fresh] = ['the-first-key-of-the-test', 'another-key-of-the-same-test'] as const;
  const keys = folder.put('keys', `${old}\n`);
  const service = await start({ API_KEYS_FILE: keys, LOG_LEVEL: 'debug' });
  const ask = (key: string) =>
    post(service, '/analyze', BODY, { headers: { authorization: `Bearer ${key}` } });

  await blocker.block(2);
  folder.put('keys', `${fresh}\n`);
  service.kill('SIGHUP');
  await until('the others to have the new key', async () => {
    return (await askAll(service, { route: '/analyze', loops: LOOPS - 1 }, () => ask(fresh))).every(
      ({ status }) => status === 200,
    );
  });
  const isSaid = () => service.logs.some(({ msg }) => msg === 'API_KEYS_FILE was read again');
  const wasSaid = isSaid();
  folder.put('keys', ''); // as whoever writes it anew, in place, leaves it for a moment
  await blocker.release(2);

  await until('the log to say that all have it', isSaid);
  const answers = await askAll(service, { route: '/analyze', loops: LOOPS }, () => ask(old));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  expect(wasSaid).toBe(false); // one had not
  await service.stop();
});
