/** Control characters but for the ends of lines and tabs, and those that turn the direction of a text around. */
// eslint-disable-next-line no-control-regex -- these are what the rule is about
const unprintable = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/**
 * A text for a terminal in which nothing but letters is left. Names of files in the sentences of a worker are an
 * agent's choice, and a terminal would do as they say.
 */
export function plainText(text: string): string {
  return text.replace(unprintable, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });
}
