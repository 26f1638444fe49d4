import { startBridge, type BridgeOptions } from '@codelanes/bridge';
import { pino } from 'pino';

/** A real bridge; says where it serves. */
process.once('message', (options: BridgeOptions) => {
  void serve(options);
});

async function serve(options: BridgeOptions): Promise<void> {
  const bridge = await startBridge(options, pino({ level: 'warn' }, pino.destination(2)));
  process.once('SIGTERM', () => {
    void bridge.close().then(() => {
      process.disconnect();
    });
  });
  // Whoever measures may be killed; nothing of it is left then.
  process.once('disconnect', () => void bridge.close());
  process.send?.(bridge.url);
}
