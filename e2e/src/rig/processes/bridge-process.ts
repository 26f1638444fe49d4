import { startBridge, type BridgeOptions } from '@codelanes/bridge';
import { fromLaneResult, toLaneRequest } from '@codelanes/librechat';

/** A bridge as a process of its own, with the options of a test (clocks in tenths of a second, say). */
process.once('message', (options: BridgeOptions) => {
  // As the command line does; a worker has to ask for it.
  void startBridge({ ...options, laneRouter: { toLaneRequest, fromLaneResult } }).then(
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
