/** How many modules a simple reader averages over on both axes to tell dark from light. */
export const localWindow = 5;

/** How much darker than its surroundings a module must be to such a reader, as a part of 1. */
export const localDifference = 0.012;

interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** The mean around every value of a grid: of the values inside it that are at most half a `window` away. */
export function localMeans(values: Float64Array, { width, height }: PixelSize, window: number): Float64Array {
  const reach = Math.floor(window / 2);
  const sums = sumsOf(values, { width, height });
  const across = width + 1;
  const means = new Float64Array(values.length);
  for (let row = 0; row < height; row++) {
    const [top, bottom] = [Math.max(0, row - reach) * across, Math.min(height, row + reach + 1) * across];
    const rows = (bottom - top) / across;
    for (let column = 0; column < width; column++) {
      const left = Math.max(0, column - reach);
      const right = Math.min(width, column + reach + 1);
      const sum =
        (sums[bottom + right] ?? 0) -
        (sums[bottom + left] ?? 0) -
        (sums[top + right] ?? 0) +
        (sums[top + left] ?? 0);
      means[row * width + column] = sum / (rows * (right - left));
    }
  }
  return means;
}

/**
 * The sum of all values above and to the left of every corner of the grid. With it, any window's sum takes four
 * look-ups.
 */
function sumsOf(values: Float64Array, { width, height }: PixelSize): Float64Array {
  const sums = new Float64Array((width + 1) * (height + 1));
  for (let row = 0; row < height; row++) {
    let line = 0;
    for (let column = 0; column < width; column++) {
      line += values[row * width + column] ?? 0;
      const above = sums[row * (width + 1) + column + 1] ?? 0;
      sums[(row + 1) * (width + 1) + column + 1] = above + line;
    }
  }
  return sums;
}
