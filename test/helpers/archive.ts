import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ZipFile } from 'yazl';

export const MANIFEST = 'MAR-INF/MANIFEST.json';

interface Part {
  readonly content: Buffer | object | string;
  readonly mode?: number;
}

/** Files of an archive by their names. */
export type Parts = Readonly<Record<string, Part | Buffer | object | string>>;

/** As torch-model-archiver writes it. */
export function manifest(model: object): object {
  return {
    runtime: 'python',
    archiverVersion: '0.12.0',
    model: { modelName: 'waves', modelVersion: '1.0', ...model },
  };
}

/** An archive of TorchServe. @param edit makes something else of its bytes */
export async function writeArchive(
  target: string,
  parts: Parts,
  edit = (bytes: Buffer): Buffer => bytes,
): Promise<void> {
  mkdirSync(path.dirname(target), { recursive: true });
  const zip = new ZipFile();
  for (const [name, part] of Object.entries(parts)) {
    const { content, mode = 0o100644 } = (
      typeof part === 'object' && 'content' in part ? part : { content: part }
    ) as Part;
    const isRaw = Buffer.isBuffer(content) || typeof content === 'string';
    const bytes = Buffer.from(isRaw ? content : JSON.stringify(content));
    zip.addBuffer(bytes, name, { mode });
  }
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  writeFileSync(target, edit(Buffer.concat(chunks)));
}
