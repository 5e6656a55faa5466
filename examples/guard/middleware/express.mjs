// Guardrail for prompts and responses of a language model, as Express middleware.
//   npm ci && node express.mjs
import express from 'express';
import { ask, guard, listening } from './guard.mjs';

/** Rejects blocked prompts, and passes the redacted prompt in `response.locals.prompt`. */
const guarded = async (request, response, next) => {
  const { prompt } = request.body ?? {};
  if (typeof prompt !== 'string') return response.status(400).json({ error: 'prompt: expected' });
  const { action, findings, texts } = await guard.check(prompt);
  const checks = findings.filter((one) => one.action === 'block').map(({ check }) => check);
  if (action === 'block') return response.status(400).json({ error: 'blocked', checks });
  response.locals.prompt = texts[0];
  next();
};

const app = express();
app.post('/chat', express.json(), guarded, async (_, response) => {
  const { prompt } = response.locals;
  const { action, texts } = await guard.check(await ask(prompt), { direction: 'output' });
  if (action === 'block') return response.status(502).json({ error: 'blocked' });
  response.json({ answer: texts[0] });
});
const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  listening(`http://127.0.0.1:${server.address().port}`);
});
