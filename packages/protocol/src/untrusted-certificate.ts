/** Codes of OpenSSL and Node for a certificate that no authority known here has made, or that is not of that host. */
const codes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Whether a connection failed for its certificate: nothing was sent over it, and nothing will be until that is mended. */
export function isUntrusted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && codes.has(String(error.code));
}
