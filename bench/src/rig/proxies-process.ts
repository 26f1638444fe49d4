import { machineResolution } from '@codelanes/worker/machine-resolution';
import { serveProxies } from '@codelanes/worker/serve-proxies';

/** A public address, to which nothing is connected. */
const checkedInstead = '1.1.1.1';

/**
 * The proxies of a worker, to the server of the measurement on loopback. Such an address would be refused at once, so
 * the whole check is made of a public one in its place; names are resolved as usual.
 */
serveProxies({ ...machineResolution, permits: () => machineResolution.permits(checkedInstead) });
