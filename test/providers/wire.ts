/** What a model says, before it is put into the words of one API. */
export type WireItem =
  | { readonly text: readonly string[]; readonly open?: true }
  | { readonly call: WireCall; readonly open?: true }

export interface WireCall {
  readonly id: string
  readonly name: string
  /** The argument text, as it arrives. */
  readonly input: readonly string[]
}

/** `nothing`: the stream ends without the words that the API ends with. */
export type WireEnding = 'stop' | 'tool-calls' | 'length' | 'nothing'

/** The frames of one API. An item that is `open` is not closed: something happens in the middle of it. */
export interface Wire {
  readonly frames: (items: readonly WireItem[], ending: WireEnding) => readonly string[]
  readonly errorFrame: (error: { readonly type: string; readonly message: string }) => string
}

export const usage = { input: 11, output: 7 } as const

export const dataFrame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`

export const namedFrame = <Event extends { readonly type: string }>(event: Event): string =>
  `event: ${event.type}\n${dataFrame(event)}`

/** Cut off in the middle of its JSON. */
export const malformedFrame = 'data: {"id":"x","choices":[{"delta":\n\n'
