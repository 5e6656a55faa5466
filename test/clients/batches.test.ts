import path from 'node:path';
import { Folder } from '../helpers/files';
import { post } from '../helpers/http';
import { newDirectory, removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';

const FOLDER = path.join(__dirname, 'python');
const KEY = 'a-key-that-is-long-enough-0123456789';

const files = new Folder();

afterAll(async () => {
  await removeDirectories();
  files.remove();
});

needs('python').it(
  'openai for Python runs a batch',
  async () => {
    const packages = await installPython('clients', path.join(FOLDER, 'requirements.txt'));
    const directory = newDirectory();
    directory.text('vectors', '../embeddings/sentences/v2-mean-normalize');
    const service = await directory.start({ env: { API_KEY: KEY, FILES_DIR: files.path } });
    const { stdout } = await runFile('python3', ['batches.py', service.origin, KEY], {
      cwd: FOLDER,
      env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
    });
    const headers = { authorization: `Bearer ${KEY}` };
    const body = { input: 'A warm, funny film.' };
    const { json } = await post(service, '/v1/embeddings', body, { headers });
    const [{ embedding }] = (json as { data: [{ embedding: readonly number[] }] }).data;
    expect(JSON.parse(stdout)).toEqual({
      status: 'completed',
      counts: { total: 2, completed: 1, failed: 1 },
      metadata: { team: 'search' },
      lifetimes: [3600, 7200],
      done: 'request-0',
      embedding,
      failed: ['request-1', 400],
      listed: true,
      deleted: true,
    });
  },
  INSTALL_MS,
);
