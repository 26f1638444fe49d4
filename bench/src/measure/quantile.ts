/**
 * The smallest of the values that at least that share of them does not exceed; the mean of the two middle ones
 * where half of an even number of values lies on either side.
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const rank = share * sorted.length;
  const at = (index: number) => sorted[Math.min(Math.max(index, 0), sorted.length - 1)];
  const value = at(Math.ceil(rank) - 1);
  const next = at(Math.ceil(rank));
  if (value === undefined || next === undefined) throw new Error('No quantile without a value.');
  return share === 0.5 && Number.isInteger(rank) ? (value + next) / 2 : value;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
