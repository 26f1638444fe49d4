/**
 * The lines of a text that comes in pieces, each as soon as it is whole; the last one may end without a line feed.
 * Nothing is looked through twice: a line may have many megabytes, and leases wait behind it.
 */
export async function* linesOf(pieces: AsyncIterable<unknown>): AsyncGenerator<string> {
  let begun: string[] = [];
  for await (const piece of pieces) {
    const [more = '', ...lines] = String(piece).split('\n');
    begun.push(more);
    for (const next of lines) {
      yield begun.join('');
      begun = [next];
    }
  }
  const rest = begun.join('');
  if (rest !== '') yield rest;
}
