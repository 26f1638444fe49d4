import { CodelanesError } from '@codelanes/protocol';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of bytes, a byte order mark included, or `undefined` where they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Says of a file that it cannot be treated as text, and how to go on. */
export function notText(path: string, detail = 'it is not UTF-8'): CodelanesError {
  return new CodelanesError(
    'INVALID_REQUEST',
    `"${path}" cannot be treated as text: ${detail}. Look at it, or convert it, with a command.`,
  );
}

/** Whether bytes begin with the mark of UTF-16, in either byte order. */
export function isUtf16(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}
