import { read as readCallback, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { CodelanesError, limits, type ReadFileRequest, type ReadFileResult } from '@codelanes/protocol';
import { openFile, type OpenedFile } from '../files/read.js';
import { refuseGitPath } from './git-guard.js';
import { readInstructions } from './instructions.js';
import { LineReader } from './read-lines.js';
import type { ToolContext } from './tool-context.js';
import { decodeUtf8, isUtf16, notText } from './utf8-text.js';

const read = promisify(readCallback);
const chunkBytes = 64 * 1024;
/** Longest scan to a late line of a large file, in milliseconds. */
const scanTimeoutMs = 10_000;

/**
 * Reads lines of a text file of any size: `content` has them joined by LF, without the last line's end. CR and
 * a byte order mark are kept. Bytes that are not UTF-8 are refused, not replaced.
 */
export async function runReadFile(context: ToolContext, request: ReadFileRequest): Promise<ReadFileResult> {
  const { operation, protocolVersion, workspaceId, path } = request;
  const envelope = { protocolVersion, operation, workspaceId, path };
  if (request.instructionSha256 !== undefined) {
    const { content, truncated } = await readInstructions(context.directory, path, request.instructionSha256);
    return { ...envelope, content, startLine: 1, endLine: content.split('\n').length, truncated };
  }
  const startLine = request.startLine ?? 1;
  const maxLines = request.maxLines ?? limits.readFileDefaultLines;
  const reader = new LineReader(path, { startLine, maxLines, maxBytes: limits.readFileBytes });
  const file = openFile(context.directory, path);
  try {
    refuseGitPath(file.path, path);
    await scan(file, reader, path, context.signal);
  } finally {
    file.close();
  }
  const endLine = startLine + reader.lines.length - 1;
  return {
    ...envelope,
    content: decodeLines(reader.lines, path, startLine),
    startLine,
    endLine,
    truncated: reader.truncated,
    ...(reader.truncated ? { nextStartLine: endLine + 1 } : {}),
  };
}

async function scan(file: OpenedFile, reader: LineReader, path: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + scanTimeoutMs;
  const buffer = Buffer.allocUnsafe(chunkBytes);
  // The size at the start bounds the scan: a file that grows as fast as it is read would never end.
  const size = Number(file.version.size);
  for (let position = 0; position < size && !reader.isDone;) {
    signal.throwIfAborted();
    if (performance.now() > deadline) throw tooSlow(path, reader.lineNumber);
    const length = Math.min(chunkBytes, size - position);
    // A file of one chunk is not worth two changes of thread, which cost more than the read.
    const bytesRead =
      size <= chunkBytes
        ? readSync(file.fd, buffer, 0, length, position)
        : (await read(file.fd, buffer, 0, length, position)).bytesRead;
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    if (position === 0 && isUtf16(chunk)) throw notText(path, 'it is UTF-16');
    reader.push(chunk);
    position += bytesRead;
  }
  reader.end();
}

function decodeLines(lines: readonly Buffer[], path: string, startLine: number): string {
  return lines
    .map((line, index) => {
      const text = decodeUtf8(line);
      if (text === undefined) throw notText(path, `line ${startLine + index} holds bytes that are not UTF-8`);
      return text;
    })
    .join('\n');
}

function tooSlow(path: string, lineNumber: number): CodelanesError {
  return new CodelanesError(
    'READ_LIMIT_EXCEEDED',
    `"${path}" was read up to line ${lineNumber} in ${scanTimeoutMs / 1000} s: start at an earlier line, or use a command.`,
  );
}
