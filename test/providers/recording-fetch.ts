/** Keeps the bodies of requests as they were sent; a mock may show only what it made of them. */
export function createRecordingFetch(): {
  readonly fetch: typeof fetch
  readonly bodies: readonly unknown[]
} {
  const bodies: unknown[] = []
  return {
    bodies,
    fetch: (input, init) => {
      if (typeof init?.body === 'string') bodies.push(JSON.parse(init.body))
      return fetch(input, init)
    },
  }
}
