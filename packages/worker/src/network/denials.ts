/** What was refused to a call: a sentence for each target, and how many were left out. */
export interface Denials {
  readonly sentences: readonly string[];
  readonly omitted: number;
}

export const noDenials: Denials = { sentences: [], omitted: 0 };

/** A call may be told of as many refused targets; more are only counted. */
const most = 8;
/** Refused targets that are told apart; what is refused beyond is not remembered. */
const mostCounted = 1024;

/** Collects what is refused to one call, each target once. */
export class DenialList {
  readonly #sentences = new Set<string>();

  add(sentence: string): void {
    if (this.#sentences.size < mostCounted) this.#sentences.add(sentence);
  }

  all(): Denials {
    const sentences = [...this.#sentences];
    return { sentences: sentences.slice(0, most), omitted: Math.max(0, sentences.length - most) };
  }
}

/** The lines with which a call's output tells of them. */
export function denialNotices({ sentences, omitted }: Denials): string[] {
  const rest = omitted === 0 ? [] : [`${omitted} more connections were refused.`];
  return [...sentences.map((sentence) => `Network: ${sentence}`), ...rest];
}
