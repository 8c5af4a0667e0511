/** What a provider was sent, in one form for all APIs, and what its API would refuse about it. */
export interface SentPrompt {
  /** `role: text`, in order. */
  readonly said: readonly string[]
  readonly calls: readonly SentCall[]
  readonly results: readonly SentResult[]
  readonly problems: readonly string[]
}

export interface SentCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

export interface SentResult {
  readonly id: string
  readonly text: string
}

/** Every API wants each call to be answered once, and nothing else to be. */
export function findPairProblems(
  calls: readonly { readonly id: string }[],
  results: readonly { readonly id: string }[],
): readonly string[] {
  const called = calls.map(({ id }) => id)
  const answered = results.map(({ id }) => id)
  return [
    ...called.filter((id, index) => called.indexOf(id) !== index).map((id) => `${id} called twice`),
    ...called.filter((id) => !answered.includes(id)).map((id) => `${id} has no result`),
    ...answered.filter((id) => !called.includes(id)).map((id) => `${id} is no call’s result`),
    ...answered
      .filter((id, index) => answered.indexOf(id) !== index)
      .map((id) => `${id} answered twice`),
  ]
}

/** Arguments travel as text, and must be those of an object. */
export function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not an object either: the caller reports it.
    return undefined
  }
}
