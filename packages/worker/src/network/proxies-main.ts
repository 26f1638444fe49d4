import { machineResolution } from './machine-resolution.js';
import { serveProxies } from './serve-proxies.js';

serveProxies(machineResolution);
