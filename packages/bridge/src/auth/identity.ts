/** What a request may be: of a caller, of the administrator, or of a worker. */
export type Kind = 'caller' | 'admin' | 'worker';

/** Who sent a request, once its token was recognised. */
export interface Identity {
  readonly kind: Kind;
  /** A short, stable name that tells nothing of the token; fairness and ownership of calls go by it. */
  readonly principal: string;
  /** Of a caller whose token names one; whoever has a static token is nobody in particular. */
  readonly user?: User | undefined;
  /** Of a paired worker: by which pairing it is let in. */
  readonly enrolmentId?: string | undefined;
}

/** What a signed token of LibreChat says of its caller. */
export interface User {
  readonly tenantId: string;
  readonly userId: string;
  readonly role: string;
  /** The worker that LibreChat lets this caller use. */
  readonly workerId: string | undefined;
}
