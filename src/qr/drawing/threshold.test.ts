import fc from "fast-check";
import { expect, test } from "vitest";
import { localMeans } from "./threshold.ts";

test("is the mean of the window around each value, as far as it is inside", () => {
  const grid = fc
    .record({ width: fc.integer({ min: 1, max: 9 }), height: fc.integer({ min: 1, max: 9 }) })
    .chain(({ width, height }) =>
      fc.record({
        width: fc.constant(width),
        height: fc.constant(height),
        window: fc.integer({ min: 1, max: 12 }),
        values: fc.array(fc.integer({ min: 0, max: 255 }), {
          minLength: width * height,
          maxLength: width * height,
        }),
      }),
    );
  fc.assert(
    fc.property(grid, ({ width, height, window, values }) => {
      const means = localMeans(Float64Array.from(values), { width, height }, window);
      const reach = Math.floor(window / 2);
      for (const [index, mean] of means.entries()) {
        const near = values.filter(
          (_, other) =>
            Math.abs((other % width) - (index % width)) <= reach &&
            Math.abs(Math.floor(other / width) - Math.floor(index / width)) <= reach,
        );
        expect(mean).toBeCloseTo(near.reduce((sum, value) => sum + value, 0) / near.length, 9);
      }
    }),
    { seed: 1 },
  );
});
