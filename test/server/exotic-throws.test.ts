import { tool, type ToolSet } from 'ai'
import { callsOf, type HoldfastOptions, parseMessageId, parseThreadId, type Turn } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, messageId } from '../engine/fixture.ts'

/** Whatever is done with it throws, and that throws as well when it is looked at. */
function hostile(depth = 0): object {
  const fail = (): never => {
    throw depth > 3 ? new Error('deep') : (hostile(depth + 1) as Error)
  }
  const traps: ProxyHandler<Error> = {
    get: fail,
    has: fail,
    ownKeys: fail,
    getPrototypeOf: fail,
    getOwnPropertyDescriptor: fail,
    set: fail,
    isExtensible: fail,
  }
  return new Proxy(new Error('target'), traps)
}
const field = (name: string): object =>
  Object.defineProperty({}, name, {
    enumerable: true,
    get(): never {
      throw new Error('not this')
    },
  })
class Sly extends Error {
  override get message(): string {
    throw new Error('no words')
  }
  override get stack(): string {
    throw new Error('no stack')
  }
}

const exotic: readonly (readonly [string, () => unknown])[] = [
  ['a proxy that throws', () => hostile()],
  ['a message that throws', () => field('message')],
  ['a cause that throws', () => Object.defineProperty(new Error(''), 'cause', { get: hostile })],
  [
    'a toString that throws',
    () => ({ toString: () => field('x').toString.call(null), message: hostile }),
  ],
  ['a status that throws', () => field('statusCode')],
  ['an error of a sly kind', () => new Sly()],
  ['null', () => null],
  ['undefined', () => undefined],
  ['a symbol', () => Symbol('s')],
  ['a function', () => () => {}],
  ['NaN', () => Number.NaN],
  ['an object without a prototype', () => Object.create(null) as object],
  [
    'a revoked proxy',
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      return proxy
    },
  ],
]

const endingOf = ({ progress }: Turn) => (progress.status === 'ended' ? progress.ending : null)

async function runTool(options: Partial<HoldfastOptions>) {
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [{ call: 'boom', input: {} }] : [{ text: 'Fine.' }]),
    { modelRetries: 0, ...options },
  )
  const turn = await fixture.runTurn('go')
  return { turn, fixture, call: [...callsOf(turn)][0] }
}
const toolOf = (execute: () => unknown): ToolSet => ({
  boom: tool({ inputSchema: z.object({}), execute: execute as () => string }),
})
const throwing = (make: () => unknown) => (): never => {
  throw make() as Error
}
const rejecting = (make: () => unknown) => async (): Promise<never> => {
  await Promise.resolve()
  throw make() as Error
}

describe.each(exotic)('%s', (_, make) => {
  it.each([
    ['a tool', { tools: toolOf(throwing(make)) }],
    ['a tool, later', { tools: toolOf(rejecting(make)) }],
    [
      'a tool, in mid-way',
      {
        tools: toolOf(async function* () {
          yield 1
          throw make() as Error
        }),
      },
    ],
    ['a policy', { tools: toolOf(() => 1), policies: { boom: { approval: rejecting(make) } } }],
    ['toolApproval', { tools: toolOf(() => 1), toolApproval: throwing(make) }],
    [
      'the schema',
      {
        tools: {
          boom: tool({ inputSchema: z.object({}).refine(throwing(make)), execute: () => 1 }),
        },
      },
    ],
    [
      'toModelOutput',
      {
        tools: {
          boom: tool({
            inputSchema: z.object({}),
            execute: () => 1,
            toModelOutput: throwing(make),
          }),
        },
      },
    ],
    ['errorText', { tools: toolOf(throwing(() => new Error('x'))), errorText: throwing(make) }],
  ] as readonly (readonly [string, Partial<HoldfastOptions>])[])(
    '[CL6 ST3a] thrown by %s fails the call, and no more',
    async (_where, options) => {
      const { turn, call } = await runTool(options)
      expect(endingOf(turn)).toEqual({ kind: 'completed' })
      expect(call).toMatchObject({ state: 'failed' })
    },
  )

  it('[ST2 ST3a] thrown by a model fails the turn, and the next one works', async () => {
    for (const first of [[{ fails: make() }], [{ text: 'So' }, { fails: make() }]]) {
      const fixture = await createFixture(
        ({ index }) => (index === 0 ? first : [{ text: 'Fine.' }]),
        {
          modelRetries: 0,
        },
      )
      expect(endingOf(await fixture.runTurn('go'))).toMatchObject({ kind: 'failed' })
      expect(endingOf(await fixture.runTurn('again'))).toEqual({ kind: 'completed' })
    }
  })

  it('[ST2] thrown by selectHistory fails the turn', async () => {
    const fixture = await createFixture(() => [{ text: 'Fine.' }], {
      modelRetries: 0,
      selectHistory: throwing(make),
    })
    expect(endingOf(await fixture.runTurn('go'))).toMatchObject({ kind: 'failed' })
  })

  it('[CL12] thrown by a loop of the host’s own fails its turn', async () => {
    const fixture = await createFixture(() => [])
    async function* source() {
      yield { type: 'text-delta', id: '1', text: 'So' }
      yield { type: 'tool-call', toolCallId: 'c', toolName: 'a', input: {} }
      yield { type: 'tool-error', toolCallId: 'c', toolName: 'a', input: {}, error: make() }
      throw make() as Error
    }
    const recording = await fixture.holdfast.record(source(), {
      threadId: fixture.threadId,
      message: { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }] },
    })
    if (recording.kind !== 'recording') throw new Error(recording.kind)
    void recording.stream.cancel()
    await recording.done
    const turn = await fixture.last()
    expect(endingOf(turn)).toMatchObject({ kind: 'failed' })
    expect([...callsOf(turn)]).toMatchObject([{ state: 'failed' }])
  })

  it('[HT1] thrown by whoever says who asks is a 500, and the handler answers on', async () => {
    const { holdfast } = await createFixture(() => [])
    const handler = createHandler(holdfast, { authenticate: rejecting(make), log: throwing(make) })
    for (const path of ['/api/threads', '/api/chat/x/stream']) {
      const response = await handler(new Request(`http://localhost${path}`))
      expect(response.status).toBe(500)
      expect(await response.json()).toMatchObject({ error: { code: 'internal' } })
    }
  })
})

it('[CL6] hooks that throw anything change nothing', async () => {
  for (const [, make] of exotic) {
    const { createHoldfast, memory, parseOwnerId } = await import('holdfast')
    const { scriptedModel } = await import('holdfast/testing')
    const store = memory()
    const id = parseThreadId('t')
    const holdfast = createHoldfast({
      store,
      model: scriptedModel(() => [{ text: 'Fine.' }]),
      recoverEveryMs: 0,
      hooks: throwing(make),
    })
    await store.createThread({ id, ownerId: parseOwnerId('o'), title: '', at: 1 })
    const message = { id: parseMessageId('u'), parts: [{ type: 'text', text: 'Hi' }] } as const
    const sent = await holdfast.send({ threadId: id, message })
    await holdfast.settled()
    const turn = sent.kind === 'started' ? await store.readMessage(id, sent.turnId) : null
    expect(turn?.role === 'assistant' && endingOf(turn)).toEqual({ kind: 'completed' })
  }
})
