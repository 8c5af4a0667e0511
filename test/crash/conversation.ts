import { tool } from 'ai'
import { createHoldfast, type FileStore, type Holdfast, type Store, type UserPart } from 'holdfast'
import { type ScriptedCall, type ScriptPart, scriptedModel } from 'holdfast/testing'
import { z } from 'zod'

export const threadId = 'thread'
export const ownerId = 'owner'

/** What people do in one life of the process while the first turn runs its tool. */
export type Play = 'queue' | 'steer' | 'interrupt' | 'stop' | 'files'

/** One message of a play. */
export interface Input {
  readonly id: string
  readonly text: string
  readonly whenBusy: 'queue' | 'steer' | 'interrupt'
  /** The name of the file that it has. */
  readonly file?: string
}

const first = (more: Partial<Input> = {}): Input => ({
  id: 'u1',
  text: 'slow',
  whenBusy: 'queue',
  ...more,
})
const queued = (id: string, more: Partial<Input> = {}): Input => ({
  id,
  text: `text of ${id}`,
  whenBusy: 'queue',
  ...more,
})

/** In the order in which they are sent. */
export const inputsOf: Readonly<Record<Play, readonly Input[]>> = {
  queue: [first(), queued('u2'), queued('u3'), queued('u4')],
  steer: [first(), queued('u2'), queued('aside', { whenBusy: 'steer' })],
  interrupt: [first(), queued('u2'), queued('now', { whenBusy: 'interrupt' })],
  stop: [first(), queued('u2'), queued('u3')],
  files: [first({ file: 'f1' }), queued('u2', { file: 'f2' })],
}

/** Larger than what is looked at to tell what a file is, so that more than one piece is written. */
export const contentOf = (name: string): Uint8Array => Buffer.alloc(300_000, `${name} `)

export async function* piecesOf(name: string): AsyncGenerator<Uint8Array> {
  const content = contentOf(name)
  for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000)
}

/** Whoever takes over asks for more of an answer that was broken off (AG8): this model gives all of it again. */
const isCarryOn = (said: unknown) =>
  JSON.stringify(said).includes('was broken off by a technical fault')

/** Runs the tool where it was asked to be slow, and answers what was said last. */
function script({ prompt }: ScriptedCall): readonly ScriptPart[] {
  const last = prompt.findLastIndex((said) => said.role === 'user' && !isCarryOn(said))
  const content = (prompt[last]?.content ?? []) as readonly { readonly text?: string }[]
  // A turn that was stopped before it said anything leaves two messages of a person in a row, which are sent as one.
  const text = content.findLast((part) => part.text !== undefined)?.text
  const isDone = prompt.slice(last).some(({ role }) => role === 'tool')
  if (text === 'slow' && !isDone) return [{ call: 'slow', input: {} }]
  return [{ text: `answer to ${text}` }]
}

export interface ConversationOptions {
  readonly store: Store
  readonly fileStore?: FileStore | undefined
  /** What the tool does: it may be run again by whoever takes over. */
  readonly execute: (signal: AbortSignal | undefined) => Promise<string>
}

export function openConversation({ store, fileStore, execute }: ConversationOptions): Holdfast {
  return createHoldfast({
    store,
    // What no message names goes at the next look.
    files: { keepUnusedMs: 0, ...(fileStore === undefined ? {} : { store: fileStore }) },
    model: scriptedModel(script),
    tools: {
      slow: tool({
        inputSchema: z.object({}),
        execute: (_, { abortSignal }) => execute(abortSignal),
      }),
    },
    policies: { slow: { repeatable: true } },
    textDelayMs: 1,
    leaseMs: 600,
    recoverEveryMs: 50,
  })
}

/** Adds the file of an input; its address. */
export async function upload(holdfast: Holdfast, name: string): Promise<string> {
  const file = { ownerId, content: piecesOf(name), mediaType: 'text/plain', filename: name }
  return `/api/files/${(await holdfast.files.add(file)).id}`
}

export const send = (
  holdfast: Holdfast,
  { id, text, whenBusy }: Input,
  url?: string,
): ReturnType<Holdfast['send']> => {
  const file: readonly UserPart[] =
    url === undefined ? [] : [{ type: 'file', mediaType: 'text/plain', url }]
  return holdfast.send({
    threadId,
    message: { id, parts: [{ type: 'text', text }, ...file] },
    whenBusy,
  })
}
