// Guardrail for prompts and responses of a language model, as a Fastify hook.
//   npm ci && node fastify.mjs
import Fastify from 'fastify';
import { ask, guard, listening } from './guard.mjs';

/** Rejects blocked prompts, and replaces the prompt in the body with the redacted prompt. */
const guarded = async (request, reply) => {
  const { action, findings, texts } = await guard.check(request.body.prompt);
  const checks = findings.filter((one) => one.action === 'block').map(({ check }) => check);
  if (action === 'block') return reply.code(400).send({ error: 'blocked', checks });
  request.body.prompt = texts[0];
};

const app = Fastify();
const properties = { prompt: { type: 'string' } };
const schema = { body: { type: 'object', required: ['prompt'], properties } };
app.post('/chat', { schema, preHandler: guarded }, async (request, reply) => {
  const { prompt } = request.body;
  const { action, texts } = await guard.check(await ask(prompt), { direction: 'output' });
  if (action === 'block') return reply.code(502).send({ error: 'blocked' });
  return { answer: texts[0] };
});
listening(await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' }));
