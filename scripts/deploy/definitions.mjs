import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { operatorDefinition, ROOT } from './tools.mjs';

/** The alerts as the Prometheus operator takes them (docs/guides/deploy-docker.md). */
export function alertsAsRule() {
  const file = path.join(ROOT, 'deploy/prometheus/alerts.yml');
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'libtorch-serve' },
    spec: parse(readFileSync(file, 'utf8')),
  };
}

/** What throws where an object is not as the operator's definition says, or has what it does not name. */
export function judgeOf(plural) {
  const { versions } = parse(operatorDefinition(plural)).spec;
  const { schema } = versions.find(({ name }) => name === 'v1');
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(closed(schema.openAPIV3Schema));
  return (object) => {
    if (!validate(object)) throw new Error(ajv.errorsText(validate.errors));
  };
}

/** The API server drops fields that are not named, or, asked to be strict, refuses them. */
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  // A pattern with flags inside is Go's alone.
  const isRead = ([key, one]) => !(key === 'pattern' && String(one).includes('(?i)'));
  const inner = Object.fromEntries(
    Object.entries(schema)
      .filter(isRead)
      .map(([key, one]) => [key, closed(one)]),
  );
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || !schema.properties;
  // `metadata` is an object of which the definition says no more; of others it says all.
  const isSchema = schema.type === 'object';
  return isOpen || !isSchema ? inner : { additionalProperties: false, ...inner };
}
