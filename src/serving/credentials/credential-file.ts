import { readFile, stat } from 'node:fs/promises';

const LARGEST_BYTES = 1024 ** 2;
/** The permission of all others to read. */
const READABLE_BY_OTHERS = 0o004;

/** What is wrong with a file that a setting names; the message begins with that setting. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';

  constructor(setting: string, problem: string) {
    super(`${setting}: ${problem}`);
  }
}

/** Told in one line what is allowed but hardly meant. */
export type Warn = (warning: string) => void;

/**
 * Reads a small file, on libuv's threads.
 *
 * @param setting that names it, for the messages
 * @param warnIfOpen given for a secret: told when others can read it, too
 * @throws CredentialError
 */
export async function readCredential(
  setting: string,
  file: string,
  warnIfOpen?: Warn,
): Promise<string> {
  try {
    const found = await stat(file);
    // A pipe would be read once, and never again on SIGHUP.
    if (!found.isFile()) throw new Error('is no file');
    if (found.size > LARGEST_BYTES) throw new Error('is over 1 MiB');
    const text = await readFile(file, 'utf8');
    if ((found.mode & READABLE_BY_OTHERS) !== 0) {
      warnIfOpen?.(`${setting}: ${file} can be read by everyone on this machine`);
    }
    return text;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CredentialError(setting, `${file}: ${code ? describe(code) : message}`);
  }
}

function describe(code: string): string {
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'may not be read by this user';
  return `cannot be read (${code})`;
}
