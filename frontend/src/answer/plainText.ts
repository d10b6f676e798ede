/** The words of an answer, which is written in Markdown, for the clipboard: no stars, backslashes or backticks. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/^ {0,3}(?:> ?)+/gm, "")
    .replaceAll(/!?\[([^\]\n]*)\]\([^)\n]*\)/g, "$1")
    .replaceAll(/(?<![\\\w*])(\*{1,3})(?=\S)([^*\n]+?)(?<=[^\s\\])\1(?![\w*])/g, "$2")
    .replaceAll(/(?<!\\)`+([^`\n]*)`+/g, "$1")
    .replaceAll(/\\([!-/:-@[-`{-~])/g, "$1")
    .trim();
}
