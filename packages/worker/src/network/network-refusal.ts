/** Why the proxy did not do what it was asked for; the message says what to do. */
export class NetworkRefusal extends Error {
  override readonly name = 'NetworkRefusal';

  readonly status: 400 | 403 | 502 | 504;

  /** @param status 403 for what the policy forbids; other figures for what failed. */
  constructor(status: NetworkRefusal['status'], message: string) {
    super(message);
    this.status = status;
  }
}
