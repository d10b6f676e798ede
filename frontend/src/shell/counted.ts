/** A number with its noun, in the form that the number asks for. */
export function counted(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}
