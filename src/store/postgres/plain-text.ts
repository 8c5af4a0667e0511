/** For columns that hold words, not JSON: PostgreSQL has no NUL, and UTF-8 no lone surrogates. */
export const toPlainText = (text: string): string =>
  text.toWellFormed().replaceAll('\u0000', '\uFFFD')
