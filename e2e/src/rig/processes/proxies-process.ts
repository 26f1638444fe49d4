import { serveProxies } from '@codelanes/worker/serve-proxies';

/** The proxies of a worker under test: every name leads to this machine's loopback, and only that may be connected to. */
serveProxies({
  lookup: () => Promise.resolve(['127.0.0.1']),
  permits: (address) => address === '127.0.0.1',
});
