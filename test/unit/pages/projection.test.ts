import { project } from '../../../src/pages/embedding/projection';

const vectorsOf = (rows: number, columns: number, of: (i: number, j: number) => number) =>
  Array.from({ length: rows }, (_, i) =>
    Float32Array.from({ length: columns }, (_, j) => of(i, j)),
  );

const distances = (points: readonly (readonly number[])[]): number[] =>
  points.flatMap(([x = 0, y = 0]) => points.map(([u = 0, v = 0]) => Math.hypot(x - u, y - v)));

function expectNear(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  for (const [i, value] of expected.entries()) expect(actual[i]).toBeCloseTo(value, 5);
}

it('is the plane that the singular value decomposition of NumPy gives', () => {
  const vectors = vectorsOf(5, 6, (i, j) => ((i * 7 + j * 3) % 11) / 10 + ((i * j) % 5) / 3);
  const { points, kept } = project(vectors);
  // c = v - v.mean(0); u, s, _ = np.linalg.svd(c, full_matrices=False); u[:, :2] * s[:2]
  expectNear(points.flat(), [
    ...[1.388397, 0.718241, -0.491305, -0.829926, -0.91338],
    ...[1.018787, 0.604258, -0.845274, -0.58797, -0.061828],
  ]);
  expect(kept).toBeCloseTo(0.766264, 5);
});

it('keeps all distances of points that lie on a plane, however it lies', () => {
  const flat = Array.from({ length: 30 }, (_, i) => [Math.sin(i * 1.7) * 3, Math.cos(i * i)]);
  const axes = [
    [0.5, 0.5, 0.5, 0.5],
    [0.5, -0.5, 0.5, -0.5],
  ];
  const vectors = flat.map(([x = 0, y = 0]) =>
    Float32Array.from(
      { length: 4 },
      (_, j) => 7 + x * (axes[0]?.[j] ?? 0) + y * (axes[1]?.[j] ?? 0),
    ),
  );
  const { points, kept } = project(vectors);
  expectNear(distances(points), distances(flat));
  expect(kept).toBeCloseTo(1, 9);
  expect(project(vectors)).toEqual({ points, kept });
});

it('puts what is the same on one place, and two on a line', () => {
  const same = vectorsOf(3, 8, (_, j) => j / 7);
  expect(project(same)).toEqual({
    points: [
      [0, 0],
      [0, 0],
      [0, 0],
    ],
    kept: 1,
  });
  expect(project(same.slice(0, 1))).toEqual({ points: [[0, 0]], kept: 1 });
  expect(project([])).toEqual({ points: [], kept: 1 });
  const { points, kept } = project(vectorsOf(2, 3, (i) => i * 2));
  expectNear(points.flat(), [Math.sqrt(3), 0, -Math.sqrt(3), 0]);
  expect(kept).toBeCloseTo(1, 9);
});
