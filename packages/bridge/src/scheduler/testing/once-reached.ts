import { CodelanesError } from '@codelanes/protocol';

/** Asks until Redis can be reached. */
export async function onceReached<T>(question: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await question();
    } catch (error) {
      if (!CodelanesError.is(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
    }
  }
}
