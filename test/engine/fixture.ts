import { tool, type ToolSet } from 'ai'
import {
  callsOf,
  createHoldfast,
  foldThread,
  type Holdfast,
  type HoldfastOptions,
  type LifecycleEvent,
  memory,
  type Message,
  type MessageId,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
  type ThreadId,
  type ThreadView,
  type Turn,
} from 'holdfast'
import { type ScriptedCall, type ScriptPart, scriptedModel } from 'holdfast/testing'
import { z } from 'zod'

export interface Fixture {
  readonly holdfast: Holdfast
  readonly store: Store
  readonly threadId: ThreadId
  readonly log: LifecycleEvent[]
  /** What each model call was sent. */
  readonly calls: ScriptedCall[]
  readonly send: (text: string, id?: string) => ReturnType<Holdfast['send']>
  /** Sends, and waits until no run is under way. */
  readonly runTurn: (text: string) => Promise<Turn>
  readonly last: () => Promise<Turn>
  readonly messages: () => Promise<readonly Message[]>
  /** Follows until the view fits. */
  until(fits: (view: ThreadView) => boolean): Promise<ThreadView>
}

export type Script = (call: ScriptedCall) => readonly ScriptPart[]

export async function createFixture(
  script: Script,
  options: Partial<HoldfastOptions> = {},
): Promise<Fixture> {
  const store = options.store ?? memory()
  const log: LifecycleEvent[] = []
  const calls: ScriptedCall[] = []
  const model = scriptedModel(script, { onCall: (call) => calls.push(call) })
  const holdfast = createHoldfast({
    // An agent has its own.
    ...(options.agent === undefined ? { model } : {}),
    recoverEveryMs: 0,
    retryDelayMs: 1,
    ...options,
    store,
    hooks: (event) => log.push(event),
  })
  const threadId = parseThreadId('thread-1')
  const ownerId = parseOwnerId('owner')
  await store.createThread({ id: threadId, ownerId, title: '', at: 1 })
  let sent = 0

  const fixture: Fixture = {
    holdfast,
    store,
    threadId,
    log,
    calls,
    send: (text, id = `user-${++sent}`) =>
      holdfast.send({
        threadId,
        message: { id: parseMessageId(id), parts: [{ type: 'text', text }] },
      }),
    async runTurn(text) {
      const result = await fixture.send(text)
      if (result.kind !== 'started') throw new Error(`not started: ${result.kind}`)
      await holdfast.settled()
      return turnOf(await store.readMessage(threadId, result.turnId))
    },
    async last() {
      return turnOf((await fixture.messages()).at(-1) ?? null)
    },
    async messages() {
      const page = await store.readPage({
        threadId,
        limit: 200,
        before: null,
        live: 'include',
        results: 'full',
      })
      return page?.messages.toReversed() ?? []
    },
    async until(fits) {
      let view: ThreadView = { seq: 0, messages: [] }
      const stop = new AbortController()
      for await (const frame of holdfast.subscribe(threadId, 0, stop.signal)) {
        view = foldThread(view, frame.changes)
        if (fits(view)) break
      }
      stop.abort()
      return view
    },
  }
  return fixture
}

export function turnOf(message: Message | null): Turn {
  if (message?.role !== 'assistant') throw new Error('no turn')
  return message
}

/** A promise, and the hands that settle it: how tests wait for a tool, and make it wait. */
export function gate<Value = void>(): {
  readonly opened: Promise<Value>
  readonly open: (value: Value) => void
} {
  const { promise, resolve } = Promise.withResolvers<Value>()
  return { opened: promise, open: resolve }
}

export const echo = tool({
  description: 'Gives back what it is given.',
  inputSchema: z.object({ value: z.unknown() }),
  execute: ({ value }) => value ?? null,
})

export const tools = (more: ToolSet = {}): ToolSet => ({ echo, ...more })

export const messageId = (id: string): MessageId => parseMessageId(id)

export const textOf = (turn: Turn) =>
  turn.steps
    .flatMap((step) => step.parts)
    .flatMap((part) => (part.type === 'text' ? part.text : []))
export const statesOf = (turn: Turn) => [...callsOf(turn)].map((call) => call.state)
/** Has the model call `echo`. */
export const call = (value: unknown, id?: string) =>
  ({ call: 'echo', input: { value: value as never }, ...(id === undefined ? {} : { id }) }) as const
