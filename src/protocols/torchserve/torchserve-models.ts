import { mapInTimeSlices } from '../../lib/time-slice';
import type { EngineError, Inference } from '../../native/engine';
import { inferList } from '../../services/inference';
import { ServiceError } from '../../serving/errors';
import type { Parameters } from '../../serving/request-context';
import type { ServiceRequest } from '../../serving/service-request';
import type { Classification, ClassifierMetadata, Predictor } from '../../tasks/capabilities';
import { rankLabels } from '../../tasks/classification';
import {
  type Catalogue,
  currentVersion,
  findModel,
  type ModelVersion,
  type NamedModel,
  type ServedModel,
  unavailableReason,
  withCapability,
} from '../../tasks/served-model';
import { signalOf, textOf } from './input';
import { modelNotFound, versionNotFound } from './torchserve-errors';

/** Scores by label, in descending order. */
type LabelScores = Readonly<Record<string, number>>;

/** A loaded classifier of texts or signals. */
interface Classifier {
  readonly served: ServedModel;
  readonly model: Predictor<unknown, Classification, ClassifierMetadata>;
  /** Reads an input. @param field name in the body; empty: the whole body. @throws ServiceError */
  readonly toInput: (value: unknown, field: string) => unknown;
}

/** Resolves the models and versions that paths name. */
export class TorchServeModels {
  readonly #catalogue: () => Catalogue;

  constructor(catalogue: () => Catalogue) {
    this.#catalogue = catalogue;
  }

  get all(): Catalogue {
    return this.#catalogue();
  }

  /** The models that the API key of a request may see. */
  visible({ access }: Pick<ServiceRequest, 'access'>): Catalogue {
    return this.all.filter(({ name }) => access.canSee(name));
  }

  /**
   * @param name name or alias of a model
   * @throws ServiceError NOT_FOUND: the message lists the models; FORBIDDEN
   */
  find(name: string, call: Pick<ServiceRequest, 'access'>): NamedModel {
    call.access.requireVisible(name);
    const model = findModel(this.all, name);
    if (model) return model;
    const names = this.visible(call).map((one) => one.name);
    throw modelNotFound(name, names);
  }

  /** Admission check of a route with the parameters `model` and `version`. */
  readonly admissionError = (
    timeoutMs: number,
    { model, version }: Parameters,
  ): EngineError | null => {
    const named = findModel(this.all, model ?? '');
    const found = named && versionOf(named, version);
    return found?.served?.model?.admissionError(timeoutMs) ?? null;
  };

  /**
   * Runs the model of the path of a request.
   *
   * @param field name of the list in the body; null: the body is the only value
   * @returns scores for each value
   * @throws ServiceError, ElementError, EngineError
   */
  async classify(
    call: ServiceRequest,
    values: readonly unknown[],
    field: string | null,
  ): Promise<{ scores: readonly LabelScores[]; inferences: readonly Inference[] }> {
    const { model: name = '', version } = call.parameters;
    const { served, model, toInput } = classifierOf(this.find(name, call), version);
    const inputs = values.map((value, index) =>
      toInput(value, field === null ? '' : `${field}[${index}]`),
    );
    const options = call.inferOptions(served);
    const { predictions, inferences } = await inferList(model, inputs, options, field);
    const { labels } = model.metadata;
    const scores = await mapInTimeSlices(predictions, (prediction) =>
      Object.fromEntries(
        rankLabels(labels, prediction, {}).map(({ label, score }) => [label, score]),
      ),
    );
    return { scores, inferences };
  }
}

/** @throws ServiceError NOT_FOUND, NOT_READY; REQUEST_INVALID: the model is not a classifier */
function classifierOf(named: NamedModel, version: string | undefined): Classifier {
  const found = versionOf(named, version);
  if (!found && version !== undefined) throw versionNotFound(version, named);
  const served = found?.served;
  const texts = served && withCapability(served, 'text-classification')?.model;
  if (texts) return { served, model: texts as Classifier['model'], toInput: textOf };
  const signals = served && withCapability(served, 'signal-classification')?.model;
  if (signals) {
    return {
      served,
      model: signals as Classifier['model'],
      toInput: (value, field) => signalOf(value, field, signals.maxLength),
    };
  }
  if (served?.model) throw notAClassifier(named, served);
  const reason = found?.reason ?? unavailableReason(named) ?? 'It is loading.';
  const ofVersion = version === undefined ? '' : ` Version ${version}`;
  throw new ServiceError(
    'NOT_READY',
    `Model "${named.name}"${ofVersion} has no worker to serve inference request: ${reason}`,
  );
}

function notAClassifier({ name }: NamedModel, { task }: ServedModel): ServiceError {
  const message =
    `Model "${name}": expected a classifier of texts or signals, found the task "${task.name}". ` +
    `Send the request to /v2/models/${name}/infer, or to a route of this task below /models/${name}.`;
  return new ServiceError('REQUEST_INVALID', message);
}

/** @param version undefined: the current version */
export function versionOf(model: NamedModel, version: string | undefined): ModelVersion | null {
  if (version === undefined) return currentVersion(model);
  const number = version.replace(/\.0$/, ''); // model archives have versions such as 1.0
  return model.versions.find((one) => one.version === number) ?? null;
}
