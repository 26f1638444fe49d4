/** A fenced block of a page: what stands after its language as `key=value`, and its text. */
export interface FencedBlock {
  readonly language: string;
  readonly use: string | undefined;
  readonly name: string | undefined;
  readonly text: string;
}

/** The fenced blocks of a page in Markdown, in its order. */
export function fencedBlocks(page: string): readonly FencedBlock[] {
  return [...page.matchAll(/^```(\w+)(?: (\w+)=(\S+))?\n(.*?)^```$/gms)].map(
    ([, language = '', use, name, text = '']) => ({ language, use, name, text }),
  );
}
