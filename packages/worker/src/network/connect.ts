import { isIP, Socket, type LookupFunction } from 'node:net';
import { NetworkRefusal } from './network-refusal.js';
import { nameOf, type Target } from './target.js';

/** A connection on which nothing moves for so long is closed, in milliseconds. */
export const idleTimeoutMs = 10 * 60_000;
/** How long a connection may take to come about, in milliseconds. */
const connectTimeoutMs = 15_000;

/**
 * Connects to one of these addresses, the first that answers, and to nothing else: nothing is resolved here.
 * `onSocket` gets the socket before it connects, and may destroy it at any time.
 *
 * @throws {NetworkRefusal} 502 or 504.
 */
export function connectTo(
  target: Target,
  addresses: readonly string[],
  onSocket: (socket: Socket) => void,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = new Socket({ allowHalfOpen: true });
    onSocket(socket);
    if (socket.destroyed) {
      reject(new NetworkRefusal(502, 'The call is over.'));
      return;
    }
    socket.connect({
      // Never an address: then Node would pass by the look-up that gives the checked ones.
      host: 'checked',
      port: target.port,
      lookup: answering(addresses),
      autoSelectFamily: true,
      noDelay: true,
    });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new NetworkRefusal(504, `${nameOf(target)} did not answer in time.`));
    }, connectTimeoutMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.setTimeout(idleTimeoutMs, () => socket.destroy());
      resolve(socket);
    });
    // What goes wrong later ends the socket, which is all that anybody needs to know.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(timer);
      reject(new NetworkRefusal(502, `${nameOf(target)} cannot be reached: it took no connection.`));
    });
  });
}

function answering(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, callback) => {
    const [first] = answers;
    if (first === undefined) callback(new Error('No address.'), '');
    else if (options.all === true) callback(null, answers);
    else callback(null, first.address, first.family);
  };
}
