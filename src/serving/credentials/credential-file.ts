import { readFile, stat } from 'node:fs/promises';

const MAX_BYTES = 1024 ** 2;
/** Mode bit: readable by other users. */
const OTHERS_READ = 0o004;

/** Error of a credential file. The message starts with the setting that names the file. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';

  constructor(setting: string, problem: string) {
    super(`${setting}: ${problem}`);
  }
}

/** Reports a valid but probably unintended configuration. */
export type Warn = (warning: string) => void;

/**
 * Reads a credential file of at most 1 MiB.
 *
 * @param setting setting that names the file, for messages
 * @param warnIfOpen receives a warning if other users can read the file; pass it for secrets
 * @throws CredentialError
 */
export async function readCredential(
  setting: string,
  file: string,
  warnIfOpen?: Warn,
): Promise<string> {
  try {
    const stats = await stat(file);
    // A pipe cannot be read again on SIGHUP.
    if (!stats.isFile()) throw new Error('expected a regular file');
    if (stats.size > MAX_BYTES) throw new Error('larger than 1 MiB');
    const text = await readFile(file, 'utf8');
    if ((stats.mode & OTHERS_READ) !== 0) {
      warnIfOpen?.(
        `${setting}: ${file} is readable by all users. Remove read access for others (chmod o-r)`,
      );
    }
    return text;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CredentialError(setting, `${file}: ${code ? describeCode(code) : message}`);
  }
}

function describeCode(code: string): string {
  if (code === 'ENOENT') return 'file not found';
  if (code === 'EACCES') return 'permission denied';
  return `read failed (${code})`;
}
