const flags: Readonly<Record<string, string>> = {
  'store.url': '--redis-url',
  'store.prefix': '--redis-prefix',
  'jwt.keys.url': '--jwt-keys',
  'jwt.issuer': '--jwt-issuer',
  'jwt.audience': '--jwt-audience',
};

/** A sentence of the bridge about one of its options, in the words of the command line where that has a flag for it. */
export function withFlagNames(sentence: string): string {
  return sentence.replace(
    /\boption ([a-z]+(?:\.[a-z]+)*)(?:\.\d+)?/gi,
    (told, name: string) => flags[name] ?? told,
  );
}
