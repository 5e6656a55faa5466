/**
 * Asks a directory of models questions as users of the npm packages do, and prints what came back as JSON.
 *
 *   node decisions.mjs ORIGIN MODEL KEY FOLDER
 */
import { createOpenAI } from '@ai-sdk/openai';
import { createTypeSafeAi } from '@ai-sdk/typesafe-ai';
import { TypeSafeClient } from '@typesafe-ai/sdk';
import { experimental_decide as decide } from 'ai';
import { Decider } from 'libtorch-serve';
import { createLibtorchServe, decisionModel } from 'libtorch-serve/ai-sdk';
import { DecideClient } from 'libtorch-serve/client';
import OpenAI from 'openai';

const [origin, model, apiKey, modelDirectory] = process.argv.slice(2);
const STATE = 'The parcel arrived broken.';
const levels = Array.from({ length: 10 }, (_, level) => `level ${level}`);
const labels = Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`label ${i}`, null]));
const QUESTIONS = {
  refund: { type: 'boolean', instructions: 'The customer wants their money back.' },
  both: { type: 'boolean', criteria: { true: 'It is broken.', false: 'It is whole.' } },
  topic: {
    type: 'choice',
    instructions: 'The topic',
    criteria: { delivery: 'About delivery.', price: null },
  },
  many: { type: 'choice', criteria: labels },
  mood: { type: 'score', instructions: 'How bad?', criteria: levels },
};

/** The result, or the message of the error. */
async function attempt(call) {
  try {
    return await call();
  } catch (error) {
    return { error: error.name, message: error.message };
  }
}

async function askAiSdk(answerer) {
  const ask = (state, questions = QUESTIONS) => decide({ model: answerer, state, questions });
  const { answers, providerMetadata, warnings } = await ask(STATE);
  const image = { type: 'file', data: new Uint8Array(8), mediaType: 'image/png' };
  return {
    answers,
    providerMetadata,
    warnings,
    json: (await ask({ rate: 1.5, text: STATE })).answers.refund,
    long: (await ask(STATE.repeat(50), { refund: QUESTIONS.refund })).warnings.length,
    image: (await attempt(() => ask([image]))).error !== undefined,
  };
}

const decider = await Decider.load({ modelDirectory });
const openai = new OpenAI({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0 });
const typeSafe = new TypeSafeClient({ apiKey, baseUrl: origin, baseURL: origin });
const own = [
  { type: 'predicate', name: 'refund', instructions: 'The customer wants their money back.' },
  { type: 'choice', options: ['delivery', { label: 'price', description: 'About the price.' }] },
  { type: 'score', levels: ['good', null, 'bad'] },
];
const told = {
  openai: await openai.decisions.create({
    model,
    input: [{ role: 'user', content: [{ type: 'input_text', text: STATE }] }],
    questions: [
      { type: 'predicate', name: 'refund', instructions: 'The customer wants their money back.' },
    ],
  }),
  typeSafe: await typeSafe.systemOne({
    model,
    state: STATE,
    questions: { refund: { type: 'noul', instructions: 'The customer wants their money back.' } },
  }),
  typeSafeModels: await typeSafe.models.list(),
  aiOpenAi: await askAiSdk(createOpenAI({ baseURL: `${origin}/v1`, apiKey }).decisionModel(model)),
  aiTypeSafe: await askAiSdk(
    createTypeSafeAi({ baseURL: `${origin}/v1`, apiKey }).evaluationModel(model),
  ),
  aiServer: await askAiSdk(createLibtorchServe(origin, { apiKey }).decisionModel(model)),
  aiProcess: await askAiSdk(decisionModel(decider)),
  client: await new DecideClient(`${origin}/models/${model}`, { apiKey }).decide(STATE, own),
  process: await decider.decide(STATE, own),
  invalid: await attempt(() => decider.decide(STATE, [{ type: 'choice', options: [] }])),
};
await decider.close();
console.log(JSON.stringify(told));
