import { isIP } from 'node:net';

/** Where a request wants to go, in one form whatever the client wrote. */
export interface Target {
  /** A lower-case name without a final dot, or an address in its usual form, IPv6 without brackets. */
  readonly host: string;
  /** Whether `host` is an address rather than a name. */
  readonly isAddress: boolean;
  readonly port: number;
}

/** The target of a plain request, and what to ask for there. */
export interface RequestTarget extends Target {
  /** Path and query as the client wrote them; begins with a slash. */
  readonly path: string;
  /** The `Host` that the request must bear. */
  readonly authority: string;
}

const authorityForm = String.raw`(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,255})`;
const connectForm = new RegExp(`^${authorityForm}:([0-9]{1,5})$`);
// Printable ASCII only: what is unusual in an authority is read in different ways by different parsers.
const absoluteForm = new RegExp(`^http://${authorityForm}(?::([0-9]{1,5}))?((?:/|\\?)[!"$-~]*)?$`, 'i');

/** Reads the target of `CONNECT host:port`; `undefined` for anything else. */
export function parseConnectTarget(text: string): Target | undefined {
  const [, authority, port] = connectForm.exec(text) ?? [];
  return authority === undefined ? undefined : targetOf(authority, port);
}

/**
 * Reads `http://host[:port]/path`, the only form in which a plain request names its target; `undefined` for
 * another scheme, user information, or anything that is written in an unusual way.
 */
export function parseRequestTarget(text: string): RequestTarget | undefined {
  const [, authority, port = '80', rest = ''] = absoluteForm.exec(text) ?? [];
  const target = authority === undefined ? undefined : targetOf(authority, port);
  if (target === undefined) return undefined;
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return { ...target, path, authority: target.port === 80 ? bracketed(target) : nameOf(target) };
}

/** `host:port`, as people write it. */
export function nameOf(target: Target): string {
  return `${bracketed(target)}:${target.port}`;
}

function bracketed({ host }: Target): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

function targetOf(authority: string, portText: string | undefined): Target | undefined {
  const port = Number(portText);
  if (port < 1 || port > 65_535) return undefined;
  const host = canonicalHost(authority);
  return host === undefined ? undefined : { host, isAddress: isIP(host) !== 0, port };
}

/** A URL's parser turns every form of an address (decimal, octal, hexadecimal, short) into the usual one. */
function canonicalHost(authority: string): string | undefined {
  const text = `http://${authority}/`;
  if (!URL.canParse(text)) return undefined;
  const host = new URL(text).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return host === '' || host.startsWith('.') || host.includes('..') ? undefined : host;
}
