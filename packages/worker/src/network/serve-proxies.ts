import { Server } from 'node:net';
import type { Resolution } from './admission.js';
import { CallProxy } from './call-proxy.js';
import { noDenials } from './denials.js';
import type { FromProxies, ToProxies } from './messages.js';

/**
 * Makes this process serve the proxies of a worker, its parent, until that is gone. `resolution` is another than the
 * machine's in tests only, which have to bring a module of their own for it: no option of a worker leads here.
 */
export function serveProxies(resolution: Resolution): void {
  const proxies = new Map<number, CallProxy>();
  const answer = (message: FromProxies): void => {
    process.send?.(message);
  };
  process.on('message', (message: ToProxies, listener: unknown) => {
    const { act, call } = message;
    if (act === 'close') {
      const denials = proxies.get(call)?.close() ?? noDenials;
      proxies.delete(call);
      answer({ done: 'close', call, denials });
    } else if (listener instanceof Server) {
      const proxy = new CallProxy(message.policy, resolution);
      proxies.set(call, proxy);
      proxy.serve(listener);
      answer({ done: 'open', call });
    }
  });
  process.once('disconnect', () => process.exit(0));
  // A worker that is told to stop lets its calls end first, and they need their network until then.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
}
