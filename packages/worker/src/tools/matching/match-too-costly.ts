/** A file repeats itself so much that a tolerant strategy gives up. */
export class MatchTooCostly extends Error {
  override readonly name = 'MatchTooCostly';
}
