import { eachInTurn } from '../../lib/in-turns';
import type { EngineError, Inference } from '../../native/engine';
import { inferList } from '../../services/inference';
import { ServiceError } from '../../serving/errors';
import type { Parameters } from '../../serving/request-context';
import type { ServiceRequest } from '../../serving/service-request';
import type { Classification, ClassifierMetadata, Predictor } from '../../tasks/abilities';
import {
  type Catalogue,
  currentVersion,
  findModel,
  type ModelVersion,
  type NamedModel,
  unavailableReason,
} from '../../tasks/catalogue';
import { type ServedModel, withCapability } from '../../tasks/served';
import { rank } from '../../tasks/text-classification/probabilities';
import { signalOf, textOf } from './input';
import { modelNotFound, versionNotFound } from './torchserve-errors';

/** Labels and what the model gives them. */
export type LabelScores = Readonly<Record<string, number>>;

/** A model as it is asked here. */
interface Askable {
  readonly served: ServedModel;
  readonly model: Predictor<unknown, Classification, ClassifierMetadata>;
  /** @param place in the body; empty: it is the whole. @throws ServiceError */
  readonly toInput: (value: unknown, place: string) => unknown;
}

/** The models that can be named in paths, as they are at a moment. */
export class NamedModels {
  readonly #catalogue: () => Catalogue;

  constructor(catalogue: () => Catalogue) {
    this.#catalogue = catalogue;
  }

  get all(): Catalogue {
    return this.#catalogue();
  }

  /** Those that whoever asks may see. */
  allFor({ access }: Pick<ServiceRequest, 'access'>): Catalogue {
    return this.all.filter(({ name }) => access.maySee(name));
  }

  /**
   * By its name or another one of its.
   *
   * @throws ServiceError NOT_FOUND: it lists what there is; FORBIDDEN: it is not for this key
   */
  find(name: string, call: Pick<ServiceRequest, 'access'>): NamedModel {
    call.access.requireVisible(name);
    const model = findModel(this.all, name);
    if (model) return model;
    const names = this.allFor(call).map((one) => one.name);
    throw modelNotFound(name, names);
  }

  /** Why the model of a path would refuse what came now; null: it would not, or that is told later. */
  refusal(timeoutMs: number, { model, version }: Parameters): EngineError | null {
    const named = findModel(this.all, model ?? '');
    const found = named && versionOf(named, version);
    return found?.served?.model?.refusal(timeoutMs) ?? null;
  }

  /**
   * Runs the model of the path of a call.
   *
   * @param values as they are to be read
   * @param field of the body that holds them; null: there is one value, which is the body
   * @returns scores of all labels by falling score, for each value
   * @throws ServiceError, ElementError, EngineError
   */
  async classify(
    call: ServiceRequest,
    values: readonly unknown[],
    field: string | null,
  ): Promise<{ scores: readonly LabelScores[]; inferences: readonly Inference[] }> {
    const { model: name = '', version } = call.parameters;
    const { served, model, toInput } = this.#ask(this.find(name, call), version);
    const inputs = values.map((value, index) =>
      toInput(value, field === null ? '' : `${field}[${index}]`),
    );
    const { predictions: answers, inferences } = await inferList(
      model,
      inputs,
      call.inferOptions(served),
      field,
    );
    const scores = await eachInTurn(answers, (answer) =>
      Object.fromEntries(
        rank(model.metadata.labels, answer, {}).map(({ label, score }) => [label, score]),
      ),
    );
    return { scores, inferences };
  }

  #ask(named: NamedModel, version: string | undefined): Askable {
    const found = versionOf(named, version);
    if (!found && version !== undefined) throw versionNotFound(version, named);
    const served = found?.served;
    const texts = served && withCapability(served, 'classifies texts')?.model;
    if (texts) return { served, model: texts as Askable['model'], toInput: textOf };
    const signals = served && withCapability(served, 'classifies signals')?.model;
    if (signals) {
      return {
        served,
        model: signals as Askable['model'],
        toInput: (value, place) => signalOf(value, place, signals.maxLength),
      };
    }
    if (served?.model) throw isOtherTask(named, served);
    const reason = found?.reason ?? unavailableReason(named) ?? 'It is loading.';
    const what = version === undefined ? '' : ` Version ${version}`;
    throw new ServiceError(
      'NOT_READY',
      `Model "${named.name}"${what} has no worker to serve inference request: ${reason}`,
    );
  }
}

/** The model is ready, and has no labels that this protocol could return. */
function isOtherTask({ name }: NamedModel, { task }: ServedModel): ServiceError {
  const message =
    `Model "${name}": expected a classifier of texts or signals, found the task "${task.name}". ` +
    `Send the request to /v2/models/${name}/infer, or to a route of this task below /models/${name}.`;
  return new ServiceError('REQUEST_INVALID', message);
}

/** @param version undefined: the one that serves */
export function versionOf(model: NamedModel, version: string | undefined): ModelVersion | null {
  if (version === undefined) return currentVersion(model);
  const number = version.replace(/\.0$/, ''); // of archives the first is 1.0
  return model.versions.find((one) => one.version === number) ?? null;
}
