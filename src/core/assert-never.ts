/** Reached only by a bug: a union grew and a switch did not. */
export function assertNever(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`)
}
