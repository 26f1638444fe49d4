/** Collects a flag that may be given more than once, for commander. */
export function repeated(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}
