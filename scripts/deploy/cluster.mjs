import { parse, parseAllDocuments } from 'yaml';
import { alertsAsRule } from './definitions.mjs';
import { operatorDefinition } from './tools.mjs';

const NAMESPACE = 'models';

/** Where the API has each kind, and whether in a namespace. */
const PLACES = {
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  Namespace: '/api/v1/namespaces',
  Pod: `/api/v1/namespaces/${NAMESPACE}/pods`,
  PersistentVolumeClaim: `/api/v1/namespaces/${NAMESPACE}/persistentvolumeclaims`,
  Service: `/api/v1/namespaces/${NAMESPACE}/services`,
  Deployment: `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`,
  PodDisruptionBudget: `/apis/policy/v1/namespaces/${NAMESPACE}/poddisruptionbudgets`,
  HorizontalPodAutoscaler: `/apis/autoscaling/v2/namespaces/${NAMESPACE}/horizontalpodautoscalers`,
  NetworkPolicy: `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/networkpolicies`,
  ServiceMonitor: `/apis/monitoring.coreos.com/v1/namespaces/${NAMESPACE}/servicemonitors`,
  PrometheusRule: `/apis/monitoring.coreos.com/v1/namespaces/${NAMESPACE}/prometheusrules`,
};

/** As `kubectl apply --server-side --validate=strict`. Returns the object as it is stored. */
async function apply(server, object) {
  const place = PLACES[object.kind];
  if (!place) throw new Error(`${object.kind}: no place in PLACES`);
  const route = `${place}/${object.metadata.name}?fieldManager=test&force=true&fieldValidation=Strict`;
  const type = 'application/apply-patch+yaml';
  const { status, json } = await server.ask('PATCH', route, { body: JSON.stringify(object), type });
  if (status >= 300)
    throw new Error(`${object.kind} ${object.metadata.name}: ${json.message ?? json}`);
  return json;
}

/** The definitions of the Prometheus operator, and a namespace that takes restricted Pods alone. */
export async function prepare(server) {
  for (const plural of ['servicemonitors', 'prometheusrules']) {
    const definition = parse(operatorDefinition(plural));
    await apply(server, definition);
    // Served a moment after it is stored.
    for (;;) {
      const { group } = definition.spec;
      const { status } = await server.ask('GET', `/apis/${group}/v1/${plural}`);
      if (status === 200) break;
    }
  }
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } };
  await apply(server, namespace);
}

/** Applies what kustomize made, a second time without a change, and the Pods that would come of it. */
export async function applyAll(server, text) {
  const objects = parseAllDocuments(text).map((document) => document.toJS());
  for (const object of objects) {
    const first = await apply(server, object);
    const second = await apply(server, object);
    if (first.metadata.generation !== second.metadata.generation) {
      throw new Error(`${object.kind}: applied again, it changes`);
    }
  }
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  await admit(server, deployment);
}

/** The Pod of a Deployment is let into the namespace, and one that may become root is not. */
async function admit(server, { metadata, spec }) {
  const pod = { apiVersion: 'v1', kind: 'Pod', ...structuredClone(spec.template) };
  pod.metadata.name = `${metadata.name}-pod`;
  await apply(server, pod);
  pod.metadata.name += '-of-root';
  pod.spec.containers[0].securityContext.allowPrivilegeEscalation = true;
  const refusal = await apply(server, pod).then(
    () => 'it was let in',
    ({ message }) => message,
  );
  if (!/violates PodSecurity "restricted/.test(refusal))
    throw new Error(`a Pod of root: ${refusal}`);
}

export async function applyAlerts(server) {
  await apply(server, alertsAsRule());
}

/** What is wrong is refused, or this proves nothing. */
export async function refuses(server, text) {
  const wrong = text.replace('maxSurge:', 'maxSuge:');
  const deployment = parseAllDocuments(wrong)
    .map((document) => document.toJS())
    .find(({ kind }) => kind === 'Deployment');
  const refusal = await apply(server, deployment).then(
    () => 'it was taken',
    ({ message }) => message,
  );
  if (!/unknown field|field not declared/.test(refusal)) throw new Error(refusal);
}
