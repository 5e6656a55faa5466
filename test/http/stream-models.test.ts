/** Streams of a directory of models. */
import { post, request } from '../helpers/http';
import { newDirectory, removeDirectories, SECOND } from '../helpers/models-directory';
import type { Service } from '../helpers/service';
import { SIGNAL } from '../helpers/services';
import { refusedUpgrade, StreamClient } from '../helpers/streams';

const OPENING = { sampling_rate_hz: 95, step: 64 };

afterAll(removeDirectories);

describe('a directory with models of signals and of texts', () => {
  const directory = newDirectory();
  let service: Service;
  beforeAll(async () => {
    directory.text('films', SECOND);
    directory.signal('waves');
    directory.signal('other');
    service = await directory.start();
  });

  it.each(['/stream', '/models/waves/stream', '/models/waves/versions/1/stream'])(
    'has streams at %s',
    async (path) => {
      const client = await StreamClient.open(service, OPENING, { path });
      client.say(SIGNAL);
      const predicted = await post(service, path.replace(/stream$/, 'predict'), { signal: SIGNAL });
      const { diagnosis, confidence } = predicted.json as Record<string, unknown>;
      expect(await client.first('window')).toMatchObject({ window: 0, diagnosis, confidence });
      client.socket.terminate();
    },
  );

  it('has none of texts, and none of what is not there', async () => {
    const texts = await request(service, { path: '/models/films/stream' });
    expect([texts.status, texts.json]).toEqual([
      404,
      { detail: expect.stringMatching(/^films: streams need a signal model/) },
    ]);
    expect(await refusedUpgrade(service, { path: '/models/films/stream' })).toMatchObject({
      status: 404,
    });
    const none = await refusedUpgrade(service, { path: '/models/none/stream' });
    expect(none).toMatchObject({ status: 404, body: { detail: expect.stringMatching(/waves/) } });
  });

  it('takes up a stream of the same model alone', async () => {
    const path = '/models/waves/stream';
    const client = await StreamClient.open(service, OPENING, { path });
    const { stream } = await client.first('stream');
    const resume = { resume: { stream, next_window: 0 } };
    const other = await StreamClient.open(service, resume, { path: '/models/other/stream' });
    expect(await other.closed).toMatchObject({ code: 4404 });
    const again = await StreamClient.open(service, resume, { path });
    expect(await again.first('stream')).toMatchObject({ resumed: true });
    again.socket.terminate();
  });

  it('tells streams where they are when their model is exchanged', async () => {
    const path = '/models/waves/stream';
    const client = await StreamClient.open(service, OPENING, { path });
    client.say(SIGNAL);
    await client.first('window');
    directory.signal('waves');
    const loaded = await post(service, '/v2/repository/models/waves/unload', {});
    expect(loaded.status).toBe(200);
    client.say(SIGNAL);
    const { code, reason } = await client.closed;
    expect(code).toBe(1001);
    expect(JSON.parse(reason)).toMatchObject({ next_window: 1 });
    expect((await post(service, '/v2/repository/models/waves/load', {})).status).toBe(200);
    const place = { start: 64, first_window: 1 };
    const next = await StreamClient.open(service, { ...OPENING, ...place }, { path });
    next.say(SIGNAL);
    expect(await next.first('window')).toMatchObject({ window: 1, first_sample: 64 });
    next.socket.terminate();
  });
});
