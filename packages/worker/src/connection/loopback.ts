import { isIPv4 } from 'node:net';

/** Whether a URL leads to this machine, whatever a name server says. */
export function isLoopback({ hostname }: URL): boolean {
  if (hostname === 'localhost' || hostname === '[::1]') return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}
