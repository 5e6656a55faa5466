/** The event loop goes on while a model is loaded that takes a second and more. */
import path from 'node:path';
import { request } from '../helpers/http';
import { writeLargeModel } from '../helpers/large-model';
import { FIRST, ModelsDirectory } from '../helpers/models-directory';
import { killAll } from '../helpers/service';

const directory = new ModelsDirectory();

afterAll(async () => {
  await killAll();
  directory.folder.remove();
});

it('answers GET /health while a BERT of base size loads, and waits for no part of that', async () => {
  directory.text('small', FIRST);
  const service = await directory.start();
  writeLargeModel(path.join(directory.path, 'large'));
  const startedAt = performance.now();
  let took = 0;
  const loading = request(service, { method: 'POST', path: '/v2/repository/models/large/load' });
  void loading.then(() => {
    took = performance.now() - startedAt;
  });
  const waits: number[] = [];
  while (took === 0) {
    const askedAt = performance.now();
    const { status } = await request(service, { path: '/health' });
    waits.push(performance.now() - askedAt);
    expect(status).toBe(200);
  }
  expect((await loading).status).toBe(200);
  // A turn of the event loop that held the load, or a step of it, would be most of the time that it took.
  expect(Math.max(...waits)).toBeLessThan(took / 2);
});
