/**
 * The places at which a needle stands in a sequence, in order; overlapping ones too, or from left to right none
 * that overlaps an earlier one. Time grows with the length of the two and never with their product (Knuth,
 * Morris, Pratt), for an agent chooses both.
 */
export function* occurrences<T>(
  sequence: ArrayLike<T>,
  needle: ArrayLike<T>,
  { overlapping }: { readonly overlapping: boolean },
): Generator<number, void, undefined> {
  if (needle.length === 0) return;
  const borders = borderLengths(needle);
  let matched = 0;
  for (let index = 0; index < sequence.length; index += 1) {
    while (matched > 0 && sequence[index] !== needle[matched]) matched = borders[matched - 1] ?? 0;
    if (sequence[index] === needle[matched]) matched += 1;
    if (matched < needle.length) continue;
    yield index - needle.length + 1;
    matched = overlapping ? (borders[matched - 1] ?? 0) : 0;
  }
}

/** For every beginning of the needle the length of its longest proper part that is beginning and end of it. */
function borderLengths<T>(needle: ArrayLike<T>): Uint32Array {
  const borders = new Uint32Array(needle.length);
  for (let index = 1, length = 0; index < needle.length; index += 1) {
    while (length > 0 && needle[index] !== needle[length]) length = borders[length - 1] ?? 0;
    if (needle[index] === needle[length]) length += 1;
    borders[index] = length;
  }
  return borders;
}
