import type { EngineError } from '../native/engine';
import { ServiceError } from '../serving/errors';
import type { Abilities, Ability } from '../tasks/abilities';
import {
  type Catalogue,
  findNamed,
  listNames,
  type NamedModel,
  reasonOf,
  servingVersion,
} from '../tasks/catalogue';
import { type Served, servedAs } from '../tasks/served';
import type { Call } from './endpoint';

/** The models that can do one thing, by the names that requests give, as they are at a moment. */
export class AbleModels<Name extends Ability> {
  readonly #catalogue: () => Catalogue;
  readonly #ability: Name;

  constructor(catalogue: () => Catalogue, ability: Name) {
    this.#catalogue = catalogue;
    this.#ability = ability;
  }

  /**
   * @param name null: the default one is meant
   * @throws ServiceError NOT_FOUND: it lists what there is; NOT_READY: it is not loaded; FORBIDDEN: it is not
   *   for this key
   */
  find(
    name: string | null,
    { access }: Pick<Call, 'access'>,
  ): Served<Abilities[Name]> & { readonly model: Abilities[Name] } {
    const named = name === null ? this.#default() : this.#byName(name);
    const asked = named?.name ?? name;
    if (asked !== null) access.requireVisible(asked);
    const served = named && servingVersion(named)?.served;
    const able = served && servedAs(served, this.#ability);
    if (able?.model) return { ...able, model: able.model };
    const reason = named && !served ? reasonOf(named) : null;
    if (reason !== null) throw new ServiceError('NOT_READY', `Model is not loaded: ${reason}`);
    const visible = this.#able.filter((one) => access.maySee(one.name));
    const names = visible.map((one) => `"${one.name}"`);
    const there = names.length === 0 ? 'there is none' : `there are ${listNames(names)}`;
    const what = name === null ? 'No model is loaded' : `There is no model "${name}"`;
    throw new ServiceError('NOT_FOUND', `${what} that ${this.#ability} here: ${there}.`);
  }

  /** `Target.refusal` of the default one: which one is meant is known once the body has been read. */
  readonly refusal = (timeoutMs: number): EngineError | null => {
    const [one, ...others] = this.#able;
    if (!one || others.length > 0) return null;
    return servingVersion(one)?.served?.model?.refusal(timeoutMs) ?? null;
  };

  /** Those that are loaded, or were. */
  get #able(): readonly NamedModel[] {
    return this.#catalogue().filter(({ versions }) =>
      versions.some(({ served }) => served && servedAs(served, this.#ability)),
    );
  }

  #default(): NamedModel | undefined {
    const able = this.#able.filter((one) => servingVersion(one));
    return able.find(({ isDefault }) => isDefault) ?? able[0] ?? this.#able[0];
  }

  #byName(name: string): NamedModel | undefined {
    const catalogue = this.#catalogue();
    return (
      findNamed(catalogue, name) ??
      catalogue.find((one) => servingVersion(one)?.served?.title === name)
    );
  }
}
