/** `1 message`, `100,000 messages`: the same in every locale. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`

/** Text of a file or a database, for a terminal: on one line, without control characters. */
export const oneLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '')
    .join('; ')
    .replace(/\p{Cc}/gu, '\uFFFD')
