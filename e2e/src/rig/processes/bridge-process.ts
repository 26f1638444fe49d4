import { startBridge, type BridgeOptions } from '@codelanes/bridge';

/** A bridge as a process of its own, with the options of a test (clocks in tenths of a second, say). */
process.once('message', (options: BridgeOptions) => {
  void startBridge(options).then(
    (bridge) => {
      process.send?.({ ready: bridge.url });
      process.once('SIGTERM', () => {
        void bridge.close().then(() => process.exit(0));
      });
    },
    (error: unknown) => {
      process.send?.({ failed: String(error) });
    },
  );
});
