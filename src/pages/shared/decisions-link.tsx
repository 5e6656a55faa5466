import { info, isModelOfRepository } from './info';

/** Link from the page of another task to the page of decisions, if the model answers questions. */
export function DecisionsLink() {
  const isOffered = isModelOfRepository() && info.value?.model.abilities?.includes('decision');
  if (!isOffered) return null;
  return (
    <p class="quiet">
      <a href="decisions/">Decisions</a>: typed questions about a text with the same model.
    </p>
  );
}
