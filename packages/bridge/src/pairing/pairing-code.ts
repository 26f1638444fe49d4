import { randomBytes } from 'node:crypto';

/** A code that nobody guesses. It is handed to a command, which would take one with a dash in front for a flag. */
export function newPairingCode(): string {
  for (;;) {
    const code = randomBytes(24).toString('base64url');
    if (!code.startsWith('-')) return code;
  }
}
