/** Modules that a simple reader averages over to tell dark from light, both ways. */
export const localWindow = 5;

/** How much darker than its surroundings something must be to such a reader, of 1. */
export const localDifference = 0.012;

/**
 * The mean around every value of a `width` × `height` grid: of the values at most half a `window` away that are inside.
 */
export function localMeans(
  values: Float64Array,
  { width, height }: { readonly width: number; readonly height: number },
  window: number,
): Float64Array {
  const reach = Math.floor(window / 2);
  // Sums of all values above and to the left make every window four look-ups.
  const sums = new Float64Array((width + 1) * (height + 1));
  const sumAt = (column: number, row: number) => sums[row * (width + 1) + column] ?? 0;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const value = values[row * width + column] ?? 0;
      sums[(row + 1) * (width + 1) + column + 1] =
        value + sumAt(column + 1, row) + sumAt(column, row + 1) - sumAt(column, row);
    }
  }
  return Float64Array.from(values, (_, index) => {
    const [row, column] = [Math.floor(index / width), index % width];
    const [left, right] = [Math.max(0, column - reach), Math.min(width, column + reach + 1)];
    const [top, bottom] = [Math.max(0, row - reach), Math.min(height, row + reach + 1)];
    const sum = sumAt(right, bottom) - sumAt(left, bottom) - sumAt(right, top) + sumAt(left, top);
    return sum / ((right - left) * (bottom - top));
  });
}
