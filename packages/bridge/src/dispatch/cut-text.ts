import { utf8Length } from '@codelanes/protocol';

/** The text, or as many of its characters as take that many bytes in JSON, with an ellipsis for the rest. */
export function cutText(text: string, jsonBytes: number): string {
  let taken = '';
  let bytes = 0;
  for (const character of text) {
    bytes += utf8Length(JSON.stringify(character)) - 2;
    if (bytes > jsonBytes) return `${taken}…`;
    taken += character;
  }
  return taken;
}
