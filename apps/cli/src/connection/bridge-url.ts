import { isLoopbackUrl } from '@codelanes/protocol';
import { CliError } from '../errors/cli-error.js';

/**
 * The address of a bridge without a trailing slash. A token must not cross a network in clear, so plain http
 * is taken only for this machine, unless it was asked for.
 *
 * @throws CliError
 */
export function parseBridgeUrl(text: string, insecureHttp: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    const meant = withScheme(text) ?? 'https://bridge.example.org';
    throw new CliError(`"${text}" is no address of a bridge.`, `Give one like ${meant}.`);
  }
  if (url.protocol === 'http:' && !insecureHttp && !isLoopbackUrl(url)) {
    throw new CliError(
      `${url.origin} would carry the token in clear text over a network.`,
      'Use https, or say --insecure-http where the network is trusted.',
    );
  }
  return text.replace(/\/+$/, '');
}

/** A host without a scheme, as it was most likely meant. */
function withScheme(text: string): string | undefined {
  if (!/^[\w.[\]:-]+$/u.test(text) || !URL.canParse(`http://${text}`)) return undefined;
  const plain = new URL(`http://${text}`);
  return isLoopbackUrl(plain) ? `http://${text}` : `https://${text}`;
}
