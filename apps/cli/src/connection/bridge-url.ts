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
    throw new CliError(`"${text}" is no address of a bridge.`, 'Give one like https://bridge.example.org.');
  }
  if (url.protocol === 'http:' && !insecureHttp && !isLoopbackUrl(url)) {
    throw new CliError(
      `${url.origin} would carry the token in clear text over a network.`,
      'Use https, or say --insecure-http where the network is trusted.',
    );
  }
  return text.replace(/\/+$/, '');
}
