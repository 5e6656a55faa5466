import { InferenceClient } from '@huggingface/inference';
import { near } from '../helpers/documented';
import { post } from '../helpers/http';
import { killAll, type Service, startService, textModel } from '../helpers/service';

const KEY = 'a-key-that-is-long-enough-0123456789';
const TEXT = 'A quiet, funny film.';

let service: Service;
let closed: Service;

beforeAll(async () => {
  service = await startService('sentiment', { env: textModel('bert-single-label') });
  closed = await startService('sentiment', {
    env: { ...textModel('bert-single-label'), API_KEY: KEY },
  });
});

afterAll(killAll);

describe('@huggingface/inference', () => {
  it('classifies by the address of the service', async () => {
    const client = new InferenceClient().endpoint(service.origin);
    const labels = await client.textClassification({ inputs: TEXT });
    expect([labels]).toEqual(near((await post(service, '/', { inputs: TEXT })).json));
    expect(labels).toHaveLength(3);
  });

  it('passes its parameters on', async () => {
    const client = new InferenceClient().endpoint(service.origin);
    const parameters = { top_k: 2, function_to_apply: 'none' } as const;
    const labels = await client.textClassification({ inputs: TEXT, parameters });
    expect([labels]).toEqual(near((await post(service, '/', { inputs: TEXT, parameters })).json));
    expect(labels).toHaveLength(2);
  });

  it('classifies by the name of the model', async () => {
    const client = new InferenceClient().endpoint(`${service.origin}/models/bert-single-label`);
    expect(await client.textClassification({ inputs: TEXT })).toHaveLength(3);
    const other = new InferenceClient().endpoint(`${service.origin}/models/other`);
    await expect(other.textClassification({ inputs: TEXT })).rejects.toThrow(/Model not found/);
  });

  it('shows the key that it has', async () => {
    const client = new InferenceClient(KEY).endpoint(closed.origin);
    expect(await client.textClassification({ inputs: TEXT })).toHaveLength(3);
    const stranger = new InferenceClient().endpoint(closed.origin);
    await expect(stranger.textClassification({ inputs: TEXT })).rejects.toThrow(
      /API key is required/,
    );
  });

  it('tells what the service says is wrong', async () => {
    const client = new InferenceClient().endpoint(service.origin);
    const parameters = { top_k: 0 };
    await expect(client.textClassification({ inputs: TEXT, parameters })).rejects.toThrow(
      /parameters\.top_k: expected at least 1/,
    );
  });
});
