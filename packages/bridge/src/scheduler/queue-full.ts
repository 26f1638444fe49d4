/**
 * Which bound was met: the queue of the worker, the share of it that one principal may fill, or as many durable
 * requests of one principal as are kept.
 */
export type QueueBound = 'queue' | 'share' | 'requests';

/** The refusal of one more waiting call, in the same words at every store. */
export function queueFullText(workerId: string, bound: QueueBound): string {
  switch (bound) {
    case 'queue':
      return `The queue of ${workerId} is full.`;
    case 'share':
      return `This caller has as many calls in the queue of ${workerId} as one caller may have.`;
    case 'requests':
      return `This caller has as many durable requests at ${workerId} as are kept, and none of them has ended.`;
  }
}
