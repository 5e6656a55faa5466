/**
 * Routes of a model repository that need an ability of a model. At the root, `model` in the body selects the model.
 * Below the address of a model that lacks the ability, or does not exist, the response is a 404 in the format of the
 * protocol of the path.
 */
import type { Operation } from '../../protocols/openapi/operation';
import { type Protocol, pathAt } from '../../protocols/protocol';
import type { Route } from '../../protocols/route';
import { ModelResolver, requireNameOf } from '../../services/model-resolver';
import { PathNotFoundError, ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import { CAPABILITIES, type Capability } from '../../tasks/capabilities';
import { embedding } from '../../tasks/embedding/embedding-task';
import { type Catalogue, findModel, type ServedModel, versionOf } from '../../tasks/served-model';

/** Protocols of a model, the server's own first. */
type ProtocolsOf = (served: ServedModel) => readonly [own: Protocol, ...others: Protocol[]];

/** JSON Schema of `model` in a body. */
const MODEL_FIELD = {
  type: 'string',
  description: 'Name, alias or title of the model. Default: the default model',
};

/** A model that is never loaded and has all abilities: its protocols have every route that needs an ability. */
const ALL_ABILITIES: ServedModel = {
  name: '',
  task: { ...embedding, capabilities: CAPABILITIES } as ServedModel['task'],
  title: '',
  version: null,
  model: null,
  reason: null,
};

/** Addresses of models and of their versions, as paths with parameters. */
const ADDRESSES = ['/models/:model', '/models/:model/versions/:version'];

export class AbilityRoutes {
  readonly #catalogue: () => Catalogue;
  readonly #protocolsOf: ProtocolsOf;
  /** The abilities that a path needs, over all protocols that have the path. */
  readonly #abilities = new Map<string, readonly Capability[]>();

  constructor(catalogue: () => Catalogue, protocolsOf: ProtocolsOf) {
    this.#catalogue = catalogue;
    this.#protocolsOf = protocolsOf;
    for (const { path, abilities = [] } of protocolsOf(ALL_ABILITIES).flatMap(routesWithAbility)) {
      const known = this.#abilities.get(path) ?? [];
      this.#abilities.set(path, [...new Set([...known, ...abilities])]);
    }
  }

  /**
   * Protocols of the root without those whose requests always name a model. The server's own protocols are the first.
   *
   * @param defaults the models of requests without a name, in order of precedence
   * @param others further models: the first with a route that no default model has serves requests without a name
   */
  atRoot(
    defaults: readonly ServedModel[],
    others: readonly ServedModel[],
  ): readonly (readonly [own: Protocol, ...others: Protocol[]])[] {
    const paths = new Set(defaults.flatMap((served) => this.#pathsOf(served)));
    const needed = others.filter((served) => {
      const known = paths.size;
      for (const path of this.#pathsOf(served)) paths.add(path);
      return paths.size > known;
    });
    return [
      ...defaults.map((served) => this.#root(served, served, ({ routes }) => routes)),
      ...needed.map((served) => this.#root(served, served, routesWithAbility)),
      this.#root(ALL_ABILITIES, null, routesWithAbility),
    ];
  }

  /** Protocols whose routes respond with 404, for paths below addresses where no route exists. */
  missing(): readonly Protocol[] {
    const [own, ...others] = this.#protocolsOf(ALL_ABILITIES);
    const paths = new Set<string>();
    const isNew = ({ path }: Route): boolean => paths.size !== paths.add(path).size;
    // The server's own protocol is the last: clients of other protocols cannot read its errors.
    return [...others, own].map((protocol) => {
      const routes = routesWithAbility(protocol).filter(isNew);
      return {
        ...protocol,
        routes: ADDRESSES.flatMap((address) =>
          routes.map((route) => this.#missingAt(address, route)),
        ),
        prefix: null,
        probes: [],
      };
    });
  }

  #abilitiesOf({ path, abilities = [] }: Route): readonly Capability[] {
    return this.#abilities.get(path) ?? abilities;
  }

  /** @param unnamed the model of requests without a name; null: no model has the ability */
  #root(
    served: ServedModel,
    unnamed: ServedModel | null,
    routesOf: (protocol: Protocol) => readonly Route[],
  ): readonly [own: Protocol, ...others: Protocol[]] {
    const [own, ...others] = this.#protocolsOf(served);
    const toRoot = (protocol: Protocol): Protocol => ({
      ...protocol,
      routes: routesOf(protocol).map((route) =>
        route.abilities ? this.#byName(route, unnamed) : route,
      ),
    });
    return [
      toRoot(own),
      ...others.filter(({ routesByBodyModel }) => !routesByBodyModel).map(toRoot),
    ];
  }

  #byName(route: Route, unnamed: ServedModel | null): Route {
    const models = new ModelResolver(this.#catalogue, this.#abilitiesOf(route));
    return {
      ...route,
      admissionError: models.admissionError,
      operation: unnamed && route.operation && withModelField(route.operation),
      handle: (call) => {
        const name = modelField(route, call);
        if (name !== null || unnamed === null) {
          return this.#routeOf(models.select(name, call), route).handle(call);
        }
        call.access.requireVisible(unnamed.name);
        return route.handle(call);
      },
    };
  }

  #pathsOf(served: ServedModel): readonly string[] {
    return this.#protocolsOf(served).flatMap((protocol) =>
      routesWithAbility(protocol).map(({ path }) => path),
    );
  }

  /** @throws PathNotFoundError: the model has another route for the ability */
  #routeOf(served: ServedModel, { method, path }: Route): Route {
    const routes = this.#protocolsOf(served).flatMap((protocol) => protocol.routes);
    const route = routes.find((one) => one.method === method && one.path === path);
    if (route) return route;
    throw new PathNotFoundError();
  }

  #missingAt(address: string, route: Route): Route {
    const abilities = this.#abilitiesOf(route);
    const handle = ({ parameters, access }: ServiceRequest): never => {
      const { model = '', version } = parameters;
      const catalogue = this.#catalogue();
      const models = version === undefined ? catalogue : ofVersion(catalogue, model, version);
      new ModelResolver(() => models, abilities).select(model, { access });
      throw new PathNotFoundError();
    };
    const { method, path } = route;
    return { method, path: pathAt(address, path), body: 'stream', handle, operation: null };
  }
}

function routesWithAbility({ routes }: Protocol): readonly Route[] {
  return routes.filter(({ abilities }) => abilities);
}

/** The route below the address of a model, which rejects names of other models in the body. */
export function ofAddressedModel(
  route: Route,
  served: ServedModel,
  aliases: readonly string[],
): Route {
  if (!route.abilities) return route;
  const handle: Route['handle'] = (call) => {
    requireNameOf(served, aliases, modelField(route, call));
    return route.handle(call);
  };
  return { ...route, handle };
}

/** Documents that the route reads `model`. */
function withModelField({ limits, errors = [], ...operation }: Operation): Operation {
  return {
    ...operation,
    limits: { ...limits, model: MODEL_FIELD },
    errors: [...new Set([...errors, 'NOT_FOUND' as const])],
  };
}

/** `model` in the body of a request; null: no string. */
function modelField({ read }: Route, call: ServiceRequest): string | null {
  const body = (read ? read(call) : call.body) as { readonly model?: unknown } | null;
  return typeof body?.model === 'string' ? body.model : null;
}

/** The catalogue, with only one version of a model. @throws ServiceError NOT_FOUND: the message lists the versions */
function ofVersion(catalogue: Catalogue, name: string, version: string): Catalogue {
  const model = findModel(catalogue, name);
  if (!model) return catalogue;
  const found = versionOf(model, version);
  if (found) {
    const only = { ...model, versions: [found], defaultVersion: null };
    return catalogue.map((one) => (one === model ? only : one));
  }
  const versions = model.versions.map((one) => one.version).join(', ') || 'none';
  const problem = `version: model "${name}" has no version "${version}"`;
  throw new ServiceError('NOT_FOUND', `${problem}. Versions: ${versions}`);
}
