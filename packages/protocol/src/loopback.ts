import { z } from 'zod';

const ipv4Schema = z.ipv4();

/** Whether a host is this machine, whatever a name server says; an IPv6 address stands without brackets. */
export function isLoopbackHost(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return host.startsWith('127.') && ipv4Schema.safeParse(host).success;
}

/** Whether a URL leads to this machine: only there a token may travel in clear text. */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return isLoopbackHost(hostname.replace(/^\[(.*)\]$/, '$1'));
}
