import { type ServedModel, withCapability } from '../../tasks/served';
import { DETAIL, type Protocol, type ProtocolOptions } from '../protocol';
import { analyze } from './analyze';
import { health, info, ready } from './gets';
import { predict } from './predict';
import { errorAnswer, type ServiceInfo } from './schemas/answers';
import { tag } from './tag';
import { zeroShot } from './zero-shot';

/**
 * The service's own routes: those that ask the model, one for each input and one for lists, and how
 * it is.
 *
 * @param others that the service speaks
 */
export function own(
  served: ServedModel,
  surroundings: ProtocolOptions,
  { service, others }: { readonly service: ServiceInfo; readonly others: readonly Protocol[] },
): Protocol {
  const texts = withCapability(served, 'classifies texts');
  const signals = withCapability(served, 'classifies signals');
  const entailment = withCapability(served, 'entails');
  const tagged = withCapability(served, 'tags texts');
  return {
    routes: [
      ...(texts ? analyze(texts, surroundings) : []),
      ...(signals ? predict(signals, surroundings) : []),
      ...(entailment ? [zeroShot(entailment, surroundings)] : []),
      ...(tagged ? tag(tagged, surroundings) : []),
      health(() => service.model.loaded),
      ready,
      info(service, served.task.info.schemas, others),
    ],
    prefix: null,
    errors: DETAIL,
    probes: ['/health', '/ready'],
    info: null,
    tag: { name: 'analysis' },
    error: { name: 'Error', schema: errorAnswer },
  };
}
