import { type Served, servedAs } from '../../tasks/served';
import { DETAIL } from '../error-shape';
import type { Protocol, Surroundings } from '../protocol';
import { analyze, analyzeBatch } from './analyze';
import { predict, predictBatch } from './predict';
import { errorAnswer } from './schemas/answers';

/** The service's own routes that ask the model: one for each input, one for lists. */
export function own(served: Served, surroundings: Surroundings): Protocol {
  const texts = servedAs(served, 'classifies texts');
  const signals = servedAs(served, 'classifies signals');
  return {
    endpoints: [
      ...(texts ? [analyze(texts, surroundings), analyzeBatch(texts, surroundings)] : []),
      ...(signals ? [predict(signals, surroundings), predictBatch(signals, surroundings)] : []),
    ],
    gets: {},
    prefix: null,
    errors: DETAIL,
    probes: [],
    info: null,
    tag: { name: 'analysis' },
    error: { name: 'Error', schema: errorAnswer },
  };
}
