/** Texts that a format's answers are compared on, and how they are asked. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** All texts wait at once. */
export const SCHEDULING = {
  ...createRequire(import.meta.url)('../test/helpers/scheduling.json'),
  maxQueueRequests: 100_000,
  maxQueueWaitMs: 3_600_000,
};

/** What stands before the first tab of each line; a line "sentence" is a heading. */
export function textsOf(files) {
  return files
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .map((line) => line.split('\t')[0].trim())
    .filter((text) => text !== '' && text !== 'sentence');
}
