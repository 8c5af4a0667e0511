import { writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import {
  callsOf,
  createHoldfast,
  defineAgent,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Turn,
} from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { z } from 'zod'

/**
 * A process that answers for several people, each with an agent of their own, until all their turns have ended. It says on
 * its standard output, before anything else can happen, for whom the agent was asked and for whom a tool ran. It is killed, really
 * killed, after so many lines, or by what it does: `poison` says by what.
 */
const [database = '', what = 'recover', poison = 'none', threads = '', dieAfter = '0'] =
  process.argv.slice(2)
const die = () => void process.kill(process.pid, 'SIGKILL')
const isToDie = Number(dieAfter) > 0
let lines = 0
const writeLine = (line: object) => {
  writeSync(1, `${JSON.stringify(line)}\n`)
  if (++lines === Number(dieAfter)) die()
}

const holdfast = createHoldfast({
  store: sqlite(database),
  recoverEveryMs: 20,
  leaseMs: 60_000,
  maxTakeovers: poison === 'none' ? 5 : 1,
  choices: z.object({ tone: z.string().default('calm') }),
  async agent({ ownerId, threadId, choices, reason }) {
    writeLine({ asked: { ownerId, threadId, choices, reason } })
    // The agents of other turns are asked meanwhile.
    await setImmediate()
    return defineAgent({
      model: scriptedModel(
        ({ prompt }) => {
          if (prompt.some(({ role }) => role === 'tool')) return [{ text: `Dear ${ownerId}.` }]
          return [
            { text: 'Let me see. ' },
            { waitMs: poison === 'text' ? 600_000 : 0 },
            { call: 'note', input: { thread: threadId } },
          ]
        },
        {
          onCall() {
            if (poison === 'text') void dieOnceStored(threadId)
          },
        },
      ),
      context: { user: ownerId },
      tools: {
        note: {
          inputSchema: z.object({ thread: z.string() }),
          async execute({ thread }, { context, toolCallId, idempotencyKey, ...scope }) {
            const place = { ownerId: scope.ownerId, threadId: scope.threadId }
            const whose = { user: context.user, closure: ownerId, thread: String(thread) }
            writeLine({ ran: { ...place, ...whose, toolCallId, idempotencyKey } })
            if (poison === 'tool') die()
            // The first process dies with every call under way; of the next ones, each call lets other turns go on.
            if (what === 'begin' && isToDie) await new Promise(() => {})
            await setImmediate()
            return `${context.user} has seen it.`
          },
        },
      },
      policies: {
        note: {
          repeatable: true,
          approval: (_, { context }) => context.user !== ownerId,
        },
      },
    })
  },
})
if (what === 'begin') {
  for (const id of threads.split(',')) {
    await holdfast.send({
      threadId: parseThreadId(id),
      create: { ownerId: parseOwnerId(id.split('-')[0]), title: '' },
      message: { id: parseMessageId(`user-${id}`), parts: [{ type: 'text', text: 'hi' }] },
      choices: { tone: `of ${id}` },
    })
  }
}
if (what === 'continue') {
  for (const id of threads.split(',')) await holdfast.continue(parseThreadId(id))
}
for (const id of threads.split(',')) writeLine({ ended: id, turn: await untilEnded(id) })
await holdfast.close()
writeLine({ done: true })

/** The last turn of the thread, now and after each change of it, also by another process. */
async function* followTurn(id: string): AsyncGenerator<Turn | undefined, never> {
  yield await lastTurn(id)
  for await (const _ of holdfast.subscribe(parseThreadId(id), 0)) yield await lastTurn(id)
  throw new Error(`Nothing more comes of ${id}.`)
}

async function untilEnded(id: string): Promise<Turn> {
  for await (const turn of followTurn(id)) {
    if (turn?.progress.status === 'ended') return turn
    // The person who continues it says of what nobody saw the end of that it is to be left.
    for (const { id: callId, state } of turn === undefined ? [] : callsOf(turn)) {
      const skip = { callId, resolution: 'skip', by: 'ann' } as const
      if (state === 'unknown') await holdfast.resolve({ threadId: parseThreadId(id), ...skip })
    }
  }
  throw new Error('A turn is followed until it ends.')
}

/** As soon as words of the answer are stored, whichever run said them. */
async function dieOnceStored(id: string): Promise<void> {
  for await (const turn of followTurn(id)) {
    const step = turn?.steps.at(-1)
    if (step?.status === 'open' && step.parts.length > 0) die()
  }
}

async function lastTurn(id: string): Promise<Turn | undefined> {
  const page = await holdfast.store.readPage({
    threadId: parseThreadId(id),
    limit: 1,
    before: null,
    live: 'include',
    results: 'full',
  })
  const last = page?.messages[0]
  return last?.role === 'assistant' ? last : undefined
}
