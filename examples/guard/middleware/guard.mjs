// The guard of ../guard.json in this process, with the shipped sentiment model.
import { fileURLToPath } from 'node:url';
import { Guard } from 'libtorch-serve';

/** By the names that the file gives them. Yours: any folder that save_pretrained wrote. */
const models = { sentiment: fileURLToPath(new URL('models/sentiment', packageRoot())) };

export const guard = await Guard.load({
  file: fileURLToPath(new URL('../guard.json', import.meta.url)),
  models,
});

/** Stands for a language model. @param {string} prompt */
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
