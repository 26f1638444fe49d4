/** What to do where a bridge knows no worker of that name, and who is meant if it is a slip of the pen. */
export function knownWorkersText(workers: readonly string[]): string {
  return workers.length === 0
    ? 'No worker has registered there yet: start it, or see why it cannot reach the bridge.'
    : `Start it, or name by --worker one that has registered there: ${workers.join(', ')}.`;
}
