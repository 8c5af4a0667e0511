import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { callsOf, type Turn } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { programArguments } from '../support/programs.ts'

interface Ran {
  readonly ownerId: string
  readonly threadId: string
  readonly user: string
  readonly closure: string
  readonly thread: string
  readonly toolCallId: string
  readonly idempotencyKey: string
}
interface AgentQuery {
  readonly ownerId: string
  readonly threadId: string
  readonly choices: unknown
  readonly reason: string
}
interface Line {
  readonly asked?: AgentQuery
  readonly ran?: Ran
  readonly ended?: string
  readonly turn?: Turn
  readonly done?: true
}

/** Runs a process until it is done or dies, and gives all that it said. */
async function play(...args: readonly string[]): Promise<readonly Line[]> {
  const child = spawn(
    process.execPath,
    [...programArguments('test/crash/agent-process.ts'), ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const { promise: exited, resolve: exit } = Promise.withResolvers<void>()
  child.once('exit', () => exit())
  const lines: Line[] = []
  for await (const line of createInterface(child.stdout)) {
    lines.push(JSON.parse(line) as Line)
  }
  await exited
  return lines
}

const isDone = (lines: readonly Line[]) => lines.some(({ done }) => done === true)
const turnsOf = (lines: readonly Line[]) => lines.flatMap(({ turn }) => turn ?? [])

describe('processes that are killed', () => {
  it('[AG1 AG3 CR1] run no call with the context of another, whoever takes it over', async () => {
    const file = temporaryFile()
    const owners = ['ann', 'bob', 'eve']
    const threads = Array.from({ length: 12 }, (_, nth) => `${owners[nth % 3]}-${nth}`)
    const all: Line[] = []
    let last = await play(file, 'begin', 'none', threads.join(','), '9')
    all.push(...last)
    const begun = new Set(all.flatMap(({ asked }) => asked?.threadId ?? []))
    // Each kill is somewhere else; a process that is not killed goes on to the end.
    for (let kill = 1; !isDone(last); kill++) {
      const rest = [...begun].join(',')
      last = await play(file, 'recover', 'none', rest, kill < 4 ? String(kill * 5) : '0')
      all.push(...last)
    }
    for (const { asked } of all) {
      if (asked === undefined) continue
      expect(asked).toMatchObject({
        ownerId: asked.threadId.split('-')[0],
        choices: { tone: `of ${asked.threadId}` },
      })
    }
    const ran = all.flatMap((line) => line.ran ?? [])
    for (const { ownerId, threadId, toolCallId, ...seen } of ran) {
      const owner = threadId.split('-')[0]
      const idempotencyKey = `${threadId}/${toolCallId}`
      expect([ownerId, seen]).toEqual([
        owner,
        { user: owner, closure: owner, thread: threadId, idempotencyKey },
      ])
    }
    // Calls were under way when their process was killed, and ran again.
    expect(new Set(ran.map((call) => call.idempotencyKey)).size).toBeLessThan(ran.length)
    const reasons = new Set(all.flatMap(({ asked }) => asked?.reason ?? []))
    expect([...reasons].toSorted()).toEqual(['begin', 'takeover'])
    const ended = turnsOf(last)
    expect(ended).toHaveLength(begun.size)
    for (const turn of ended) {
      const owner = String(turn.replyTo).split('-')[1]
      expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
      const [call] = callsOf(turn)
      expect(call).toMatchObject({ state: 'succeeded', output: { value: `${owner} has seen it.` } })
    }
  }, 120_000)

  it.each(['tool', 'text'])(
    '[AG7] by a poisonous %s: after a while the turn is left alone, and a person may continue it',
    async (poison) => {
      const file = temporaryFile()
      let last = await play(file, 'begin', poison, 'ann-1')
      let deaths = 0
      while (!isDone(last)) {
        deaths++
        expect(deaths).toBeLessThan(10)
        last = await play(file, 'recover', poison, 'ann-1')
      }
      // The first run and at most one takeover without progress.
      expect(deaths).toBeGreaterThanOrEqual(2)
      const error = { code: 'crash-loop' }
      expect(turnsOf(last)).toMatchObject([{ progress: { ending: { kind: 'failed', error } } }])
      const cured = await play(file, 'continue', 'none', 'ann-1')
      expect(turnsOf(cured)).toMatchObject([{ progress: { ending: { kind: 'completed' } } }])
    },
    120_000,
  )
})
