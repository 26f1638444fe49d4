import { CodelanesError } from '@codelanes/protocol';

/**
 * A call that left the queue before it started, through no doing of its caller: the same work may be sent again at
 * once. LibreChat is told so in the one form in which it repeats a call.
 */
export class NeverStarted extends CodelanesError {}
