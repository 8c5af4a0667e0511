/** Stub */
export const createDataStreamWriter =
  () =>
  (chunk: object): string =>
    `${JSON.stringify(chunk)}\n`
