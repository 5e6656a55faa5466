import type { SchedulingOptions } from '../../src/native/engine';
import scheduling from './scheduling.json';

/** Of engines that a test loads itself; scripts read the file. */
export const SCHEDULING: SchedulingOptions = scheduling;
