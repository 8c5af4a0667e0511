/** `1 message`, `100,000 messages`: the same in every place of the world. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`
