/** Throws where one of these objects is not about the Pods of the Deployment among them. */
export function expectItsPods(objects) {
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  const { labels } = deployment.spec.template.metadata;
  for (const { kind, metadata, spec } of objects) {
    if (kind === 'PersistentVolumeClaim') {
      expectMounted(metadata.name, deployment.spec.template.spec);
      continue;
    }
    const seen =
      kind === 'HorizontalPodAutoscaler' ? spec.scaleTargetRef.name : selected(kind, spec);
    const wanted = kind === 'HorizontalPodAutoscaler' ? deployment.metadata.name : labels;
    if (JSON.stringify(seen) !== JSON.stringify(wanted)) {
      throw new Error(`${kind} ${metadata.name} selects ${JSON.stringify(seen)}`);
    }
  }
}

function expectMounted(name, { volumes }) {
  const claims = volumes.map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName);
  if (!claims.includes(name)) throw new Error(`PersistentVolumeClaim ${name} is mounted nowhere`);
}

function selected(kind, { selector, podSelector }) {
  return kind === 'Service' ? selector : (selector ?? podSelector)?.matchLabels;
}
