import { proxyAddress } from './listener-program.js';

/** The variables by which programs find the proxy. What runs inside the sandbox itself is reached without it. */
export function proxyEnvironment(): Record<string, string> {
  const proxy = `http://${proxyAddress.host}:${proxyAddress.port}`;
  const direct = 'localhost,127.0.0.1,::1';
  return {
    HTTP_PROXY: proxy,
    http_proxy: proxy,
    HTTPS_PROXY: proxy,
    https_proxy: proxy,
    ALL_PROXY: proxy,
    all_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    // Node 24 and later follow the variables above only if this is set.
    NODE_USE_ENV_PROXY: '1',
  };
}
