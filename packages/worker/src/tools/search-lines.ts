import { limits } from '@codelanes/protocol';

export interface LineMatch {
  /** 1-based. */
  readonly line: number;
  /** 1-based, of the first occurrence in the line, in UTF-16 units as JavaScript and LibreChat count. */
  readonly column: number;
  /** The line, or a part of it that holds the occurrence; whole characters. */
  readonly text: string;
}

/** The first lines of a text that hold a query, at most `room` of them. */
export function linesWith(text: string, query: string, room: number): LineMatch[] {
  const matches: LineMatch[] = [];
  let line = 1;
  let start = 0;
  for (let found = text.indexOf(query); found !== -1 && matches.length < room;) {
    for (let end = text.indexOf('\n', start); end !== -1 && end < found; end = text.indexOf('\n', start)) {
      start = end + 1;
      line += 1;
    }
    const end = lineEnd(text, start);
    matches.push({
      line,
      column: found - start + 1,
      text: excerpt(text.slice(start, end), found - start, query),
    });
    found = text.indexOf(query, end);
  }
  return matches;
}

function lineEnd(text: string, start: number): number {
  const newline = text.indexOf('\n', start);
  const end = newline === -1 ? text.length : newline;
  return end > start && text[end - 1] === '\r' ? end - 1 : end;
}

/** As much of a line as may be told, with the occurrence about in its middle. */
function excerpt(line: string, at: number, query: string): string {
  const room = limits.searchTextLength;
  if (line.length <= room) return line;
  const before = Math.floor((room - query.length) / 2);
  const start = Math.max(0, Math.min(at - before, line.length - room));
  const end = start + room;
  return line.slice(isLowHalf(line, start) ? start + 1 : start, isLowHalf(line, end) ? end - 1 : end);
}

/** Whether a cut here would go through a surrogate pair. */
function isLowHalf(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
