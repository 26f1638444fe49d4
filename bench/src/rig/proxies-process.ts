import { lookup } from 'node:dns/promises';
import { serveProxies } from '@codelanes/worker/serve-proxies';

/** The proxies of a worker, but for loopback, where the server of the measurement is; names are resolved as usual. */
serveProxies({
  lookup: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  permits: () => true,
});
