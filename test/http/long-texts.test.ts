import { analyze, request, untilStatus } from '../helpers/http';
import { killAll, startService, textModel } from '../helpers/service';

afterAll(killAll);

/** A run of spaces that long is one word to this tokenizer: all of it is tokenized, for seconds. */
const SLOW = `${' '.repeat(3_000_000)}good`;

it('answers short texts while a huge one is tokenized', async () => {
  const service = await startService('sentiment', {
    env: {
      ...textModel('roberta-one-label'),
      BODY_LIMIT: '4000000',
      MAX_QUEUE_REQUESTS: '2',
      REQUEST_TIMEOUT_MS: '600000',
    },
  });
  const ended: string[] = [];
  const huge = analyze(service, SLOW).then(({ status }) => {
    ended.push(`huge ${status}`);
  });
  const client = new AbortController();
  const waiting = analyze(service, SLOW, { signal: client.signal });
  waiting.catch(() => undefined);
  const short = () => analyze(service, 'good');
  // Both are in the queue once it is full. Then the second, behind the first, gives up its place.
  await untilStatus(503, short);
  client.abort();
  await expect(waiting).rejects.toThrow(/abort/);
  await untilStatus(200, short);
  for (let index = 0; index < 5; ++index) ended.push(`short ${(await short()).status}`);
  expect((await request(service, { path: '/health' })).status).toBe(200);
  await huge;
  expect(ended).toEqual([...Array<string>(5).fill('short 200'), 'huge 200']);
});
