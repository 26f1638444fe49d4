/** What is used of a reply; the replies of every `fetch` have it. */
export interface HttpReply {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: HttpBody | null;
}

interface HttpBody {
  getReader(): HttpBodyReader;
  cancel(): Promise<unknown>;
}

interface HttpBodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<unknown>;
}

/** What is asked of a `fetch`: no redirect is followed, as it would carry the credentials elsewhere. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly redirect: 'error';
  readonly signal: AbortSignal;
}

export type HttpFetch = (url: string, request: HttpRequest) => Promise<HttpReply>;

/** The one that Node brings. */
// eslint-disable-next-line n/no-unsupported-features/node-builtins -- what is used of it is the same in 20.19 and 21
export const nodeFetch: HttpFetch = (url, request) => fetch(url, request);
