/** `1 message`, `100,000 messages`: the same in every place of the world. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`

/** What a file or a database says, for a terminal: on one line, and with nothing in it that moves a cursor. */
export const oneLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '')
    .join('; ')
    .replace(/\p{Cc}/gu, '\uFFFD')
