/** What `count` runs at once give. */
export async function times<Value>(
  count: number,
  run: (i: number) => Promise<Value>,
): Promise<Value[]> {
  return await Promise.all(Array.from({ length: count }, (_, i) => run(i)));
}
