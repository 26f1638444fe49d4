import type { OpenNetwork } from '../environment/network-policy.js';
import type { Denials } from './denials.js';

/** What the worker says to the process of the proxies. `open` comes with the call's listener. */
export type ToProxies =
  | { readonly act: 'open'; readonly call: number; readonly policy: OpenNetwork }
  | { readonly act: 'close'; readonly call: number };

/** What it answers, once for each. */
export type FromProxies =
  | { readonly done: 'open'; readonly call: number }
  | { readonly done: 'close'; readonly call: number; readonly denials: Denials };
