import type { Checkpoint, Overrun } from '../journal';

/** Where bytes of the output and lines of rejects go. */
export interface Destination {
  /** Where the run begins, or goes on. */
  readonly start: Checkpoint;
  /** Puts both behind what is there, and then counts as done what the checkpoint says. */
  append(output: Buffer, rejects: Buffer, done: Progress): Promise<void>;
  /** Keeps for the next process that the model ran for too long on a row. */
  note(overrun: Overrun): Promise<void>;
  /** Gives the files their names. */
  publish(): Promise<void>;
  /** Leaves all as it is. */
  close(): Promise<void>;
}

/** A checkpoint but for what the destination knows itself. */
export type Progress = Omit<Checkpoint, 'outputBytes' | 'rejectsBytes'>;

export const BEGINNING: Checkpoint = {
  input: 0,
  rows: 0,
  outputBytes: 0,
  rejectsBytes: 0,
  answered: 0,
  rejected: 0,
  truncated: 0,
  labels: {},
  seconds: 0,
  state: null,
  finished: false,
};
