/** What `count` runs at once give. */
export async function times<Value>(
  count: number,
  run: (i: number) => Promise<Value>,
): Promise<Value[]> {
  return await Promise.all(Array.from({ length: count }, (_, i) => run(i)));
}

/** Runs `run` for 0 to `count` − 1, in their order, and no more than `most` at a time. */
export async function abreast(
  count: number,
  most: number,
  run: (i: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await times(most, async () => {
    while (next < count) await run(next++);
  });
}
