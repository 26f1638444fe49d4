const signals = ['SIGTERM', 'SIGINT'] as const;

/**
 * Resolves at the first SIGTERM or SIGINT, or when the process that started this one has gone: nothing that
 * was started together outlives its parent. A second signal ends this process at once, after `onAgain`.
 */
export function stopRequested(onAgain: () => void = () => undefined): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const ask = () => {
      if (asked) {
        onAgain();
        process.exit(1);
      }
      asked = true;
      resolve();
    };
    for (const signal of signals) process.on(signal, ask);
    if (process.connected) {
      process.once('disconnect', () => {
        asked = true;
        resolve();
      });
      // The listener would keep this process alive after everything has ended.
      process.channel?.unref();
    }
  });
}
