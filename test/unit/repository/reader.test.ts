import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { FolderReader as Reader } from '../../../src/repository/folder-reader';
import { Folder } from '../../helpers/files';
import { ROOT } from '../../helpers/service';

// The thread is a file of the build.
const { FolderReader } = require(path.join(ROOT, 'dist/repository/folder-reader')) as {
  readonly FolderReader: typeof Reader;
};

const folder = new Folder();
afterAll(() => folder.remove());

it('an unexpected error of the thread rejects what is being read, and reading goes on', async () => {
  mkdirSync(path.join(folder.path, 'films'));
  folder.put('films/model.json', '{}');
  const errors: Error[] = [];
  const data = { paths: [folder.path], dtype: 'float32', guardFile: null } as const;
  const reader = new FolderReader(data, (error) => errors.push(error));
  try {
    for (const count of [1, 2]) {
      // A name that is no string is a fault of the caller, not of a folder.
      await expect(reader.read(null as unknown as string)).rejects.toThrow('unexpected error');
      expect(errors).toHaveLength(count);
      expect((await reader.list()).names).toEqual(['films']);
    }
  } finally {
    await reader.close();
  }
});
