import { randomBytes } from 'node:crypto';

const FILE_ID = /^file-[\da-f]{32}$/;
const BATCH_ID = /^batch_[\da-f]{32}$/;

/** Creates a random ID, which clients cannot guess. */
export function newId(prefix: 'file-' | 'batch_' | 'batch_req_'): string {
  return prefix + randomBytes(16).toString('hex');
}

/** Whether the text is an ID of a file. Other texts must not become a part of a path. */
export function isFileId(text: string): boolean {
  return FILE_ID.test(text);
}

/** Whether the text is an ID of a batch. Other texts must not become a part of a path. */
export function isBatchId(text: string): boolean {
  return BATCH_ID.test(text);
}
