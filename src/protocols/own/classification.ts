import type { z } from 'zod';
import { eachInTurn } from '../../lib/in-turns';
import { roundToFourDecimals } from '../../numeric/rounding';
import { ServiceError } from '../../serving/errors';
import { requireResponseSize, scoresBytes } from '../../serving/response-size';
import type { Classification, ClassifierMetadata, Predictor } from '../../tasks/abilities';
import type { ServedModel } from '../../tasks/served';
import type { LegacyOperation } from '../openapi/legacy-operation';
import {
  type Node,
  propertiesOf,
  TRUNCATED_HEADER,
  toSchema,
  withProperties,
} from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import {
  checkElements,
  parseBody,
  type Route,
  refusalOf,
  requireListLength,
  requireModel,
  runList,
} from '../route';
import { errorsOf } from './own-errors';

/** One of the two routes. */
interface Form<Body> {
  readonly body: z.ZodType<Body>;
  /** Of the body, that holds what is asked about. */
  readonly field: string;
  readonly answer: z.ZodType;
  readonly summary: string;
}

/**
 * What a classifier is asked on two routes: one element at `/name`, a list of them at `/name/batch`.
 *
 * @typeParam Body of the first route
 * @typeParam List body of the second
 */
export interface Asked<Body, List, Element, Input> {
  /** Operations and schemas are called after it, too. */
  readonly name: string;
  readonly single: Form<Body>;
  readonly batch: Form<List>;
  elementOf(body: Body): Element;
  elementsOf(body: List): readonly Element[];
  /** Whether the model can be asked it; if not, this is the error. */
  isAskable(element: Element): boolean;
  readonly refused: { readonly code: 'INPUT_EMPTY' | 'INPUT_LENGTH'; readonly message: string };
  toInput(element: Element, body: Body | List): Input;
  /** The answer as the body asks for it, and what is told of it beside label and score; left out: as it is. */
  finish?(
    answer: Classification,
    body: Body | List,
    about: ClassifierMetadata,
  ): { readonly answer: Classification; readonly more?: object };
  /** The answer to an element, a literal: to write one that is put together takes six times as long. */
  tell(element: Element, body: Body | List, label: string, score: number): object;
  readonly description?: string | undefined;
  readonly examples: { readonly single: Example; readonly batch: Example } | null;
  /** Under which the list's answer says of each element whether it was cut; null: nothing is. */
  readonly truncated: string | null;
  /** The schema of an element, made of that of the field, and how it is in a list. */
  describeElement(field: Node): { readonly alone: Node; readonly listed: Node };
}

interface Example {
  readonly request: object;
  readonly answer: object;
}

export function classificationRoutes<Body, List, Element, Input>(
  asked: Asked<Body, List, Element, Input>,
  served: ServedModel<Predictor<Input, Classification, ClassifierMetadata>>,
  surroundings: ProtocolOptions,
): readonly Route[] {
  const { name, single, batch, refused, truncated } = asked;
  const classifier = served.model;
  const refusal = refusalOf(classifier);
  const requireAskable = (element: Element): void => {
    if (!asked.isAskable(element)) throw new ServiceError(refused.code, refused.message);
  };
  const headers = truncated ? TRUNCATED_HEADER : {};
  return [
    {
      method: 'POST',
      path: `/${name}`,
      refusal,
      handle: async (call) => {
        const body = parseBody(single.body, call);
        const model = requireModel(classifier);
        const element = asked.elementOf(body);
        requireAskable(element);
        const ran = await model.run(asked.toInput(element, body), call.inferOptions(served));
        const { answer, more } = asked.finish?.(ran, body, model.metadata) ?? { answer: ran };
        const told = asked.tell(element, body, answer.label, roundToFourDecimals(answer.score));
        return { body: more ? Object.assign(told, more) : told, inferences: [ran.inference] };
      },
      describe: () => ({ ...describe(asked, 'single', surroundings), headers }),
    },
    {
      method: 'POST',
      path: `/${name}/batch`,
      refusal,
      handle: async (call) => {
        const body = parseBody(batch.body, call);
        const elements = asked.elementsOf(body);
        requireListLength(elements, batch.field, surroundings.listLength);
        const model = requireModel(classifier);
        checkElements(elements, batch.field, requireAskable);
        const size = elements.length * scoresBytes(model.metadata.labels);
        requireResponseSize(size, surroundings.responseLimit);
        const inputs = elements.map((element) => asked.toInput(element, body));
        const ran = await runList(model, inputs, call.inferOptions(served), batch.field);
        const results = await eachInTurn(ran.answers, (one, index) => {
          const { answer, more } = asked.finish?.(one, body, model.metadata) ?? { answer: one };
          const { label, score, scores, inference } = answer;
          return Object.assign(
            asked.tell(elements[index] as Element, body, label, roundToFourDecimals(score)),
            { probabilities: namedProbabilities(model.metadata.labels, scores) },
            truncated && { [truncated]: inference.truncated },
            more,
          );
        });
        return { body: { results }, inferences: ran.inferences };
      },
      describe: () => ({ ...describe(asked, 'batch', surroundings), headers }),
    },
  ];
}

function describe<Body, List, Element, Input>(
  asked: Asked<Body, List, Element, Input>,
  form: 'single' | 'batch',
  surroundings: ProtocolOptions,
): LegacyOperation {
  const { name, description, single, batch, refused } = asked;
  const { field, answer, summary } = asked[form];
  const isBatch = form === 'batch';
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}${isBatch ? 'Batch' : ''}`;
  const schema = toSchema(single.body);
  const element = asked.describeElement(propertiesOf(schema)[single.field] as Node);
  const listSchema = toSchema(batch.body);
  const list = propertiesOf(listSchema)[batch.field];
  const items = { maxItems: surroundings.listLength, items: element.listed };
  const example = asked.examples?.[form];
  return {
    id: isBatch ? `${name}Batch` : name,
    summary,
    description,
    request: {
      name: `${type}Request`,
      schema: isBatch
        ? withProperties(listSchema, { [field]: { ...list, ...items } })
        : withProperties(schema, { [field]: element.alone }),
      example: example?.request,
    },
    answer: { name: `${type}Answer`, schema: answer, example: example?.answer },
    errors: errorsOf(
      isBatch ? `${field}[1]: ${refused.message}` : refused.message,
      field,
      surroundings,
    ),
  };
}

/** Four decimals each, by the names of the model's outputs and in their order. */
function namedProbabilities(
  names: readonly string[],
  values: Float32Array,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    names.map((name, index) => [name, roundToFourDecimals(values[index] as number)]),
  );
}
