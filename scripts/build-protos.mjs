// Copies the protocol files of gRPC services to their places in dist/: the compiler leaves them behind.
import { cpSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

cpSync(path.join(ROOT, 'src', 'protocols'), path.join(ROOT, 'dist', 'protocols'), {
  recursive: true,
  filter: (file) => statSync(file).isDirectory() || file.endsWith('.proto'),
});
