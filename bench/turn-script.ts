import { setTimeout as sleep } from 'node:timers/promises'
import { type LanguageModel, tool } from 'ai'
import { z } from 'zod'

export const steps = 5
const callsPerStep = 10
export const calls = steps * callsPerStep
/** The beginning, then each step's calls and their results, and the end: no fewer will do (CL3). */
export const flushes = 1 + 2 * steps + 1
const result = { text: 'x'.repeat(1_000) }

export const tools = {
  search: tool({ inputSchema: z.object({ q: z.string() }), execute: () => result }),
}

type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>
type ScriptedPart =
  Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer Said> ? Said : never

const start: ScriptedPart = { type: 'stream-start', warnings: [] }
const words = (count: number): readonly ScriptedPart[] => [
  { type: 'text-start', id: 'text' },
  ...Array.from(
    { length: count },
    () => ({ type: 'text-delta', id: 'text', delta: 'words ' }) as const,
  ),
  { type: 'text-end', id: 'text' },
]

function searching(step: number, index: number): readonly ScriptedPart[] {
  const id = `call-${step}-${index}`
  const input = JSON.stringify({ q: `${step}-${index}` })
  return [
    { type: 'tool-input-start', id, toolName: 'search' },
    { type: 'tool-input-delta', id, delta: input.slice(0, 6) },
    { type: 'tool-input-delta', id, delta: input.slice(6) },
    { type: 'tool-input-end', id },
    { type: 'tool-call', toolCallId: id, toolName: 'search', input },
  ]
}

const ending = (unified: 'tool-calls' | 'stop'): ScriptedPart => ({
  type: 'finish',
  finishReason: { unified, raw: unified },
  usage: {
    inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 5, text: 5, reasoning: undefined },
  },
})

/** Five steps of ten parallel calls with 20 deltas before each, then 200 deltas. */
const script: readonly (readonly ScriptedPart[])[] = [
  ...Array.from({ length: steps }, (_, step) => [
    start,
    ...words(20),
    ...Array.from({ length: callsPerStep }, (_item, index) => searching(step, index)).flat(),
    ending('tool-calls'),
  ]),
  [start, ...words(200), ending('stop')],
]

/**
 * Streams the script. Without a pace everything comes at once, so that whatever time a turn takes is not
 * the model's; with one, a text delta every `paceMs`, so that no two deltas can share a commit for free.
 */
export const createModel = (paceMs: number): Model => ({
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'bench',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('This model only streams.')),
  async doStream({ prompt }) {
    const turn = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user'))
    const parts = script[turn.filter(({ role }) => role === 'tool').length] ?? []
    return { stream: paceMs === 0 ? atOnce(parts) : paced(parts, paceMs) }
  },
})

const atOnce = (parts: readonly ScriptedPart[]): ReadableStream<ScriptedPart> =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })

function paced(parts: readonly ScriptedPart[], paceMs: number): ReadableStream<ScriptedPart> {
  let next = 0
  return new ReadableStream({
    async pull(controller) {
      const part = parts[next++]
      if (part === undefined) return controller.close()
      if (part.type === 'text-delta') await sleep(paceMs)
      controller.enqueue(part)
    },
  })
}
