// In-process guardrail with the policy ../guard.json and the bundled sentiment model.
import { fileURLToPath } from 'node:url';
import { Guard } from 'libtorch-serve';

/** Model folders by the model names in the policy. Add any folder written by save_pretrained. */
const models = { sentiment: fileURLToPath(new URL('models/sentiment', packageRoot())) };

export const guard = await Guard.load({
  file: fileURLToPath(new URL('../guard.json', import.meta.url)),
  models,
});

/** Placeholder for a language model. @param {string} prompt */
export async function ask(prompt) {
  return `Ask help@example.org. You said: ${prompt}`;
}

/** @param {string} origin */
export function listening(origin) {
  console.log(`listening on ${origin}`);
}

function packageRoot() {
  return import.meta.resolve('libtorch-serve/package.json');
}
