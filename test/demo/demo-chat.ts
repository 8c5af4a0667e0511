import type { LanguageModel } from 'ai'
import { callsOf, type HoldfastOptions, type Turn } from 'holdfast'
import { createDemoTools, demoModel } from 'holdfast/demo'
import { onTestFinished } from 'vitest'
import { createFixture } from '../engine/fixture.ts'

/** The demo as the app runs it, on the memory store, without its pauses. */
export async function openDemo(options: Partial<HoldfastOptions> = {}) {
  const charges: string[] = []
  const demo = createDemoTools({ charges, now: () => 0, wait: () => Promise.resolve() })
  const fixture = await createFixture(() => [], {
    model: demoModel({ delayMs: 0 }),
    ...demo,
    ...options,
  })
  onTestFinished(() => fixture.holdfast.close())
  return { ...fixture, charges }
}

export const namesOf = (turn: Turn): readonly string[] => [...callsOf(turn)].map(({ name }) => name)

/** Name, arguments and state of each call. */
export const callsIn = (turn: Turn) =>
  [...callsOf(turn)].map(({ name, input, state }) => ({
    name,
    input: input.kind === 'complete' ? input.value : input.text,
    state,
  }))

export const textsIn = (turn: Turn): readonly string[] =>
  turn.steps.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'text' ? part.text : [])),
  )

export const endingOf = (turn: Turn) =>
  turn.progress.status === 'ended' ? turn.progress.ending : turn.progress

type Streaming = Exclude<LanguageModel, string> & { readonly specificationVersion: 'v4' }
export type DemoPrompt = Parameters<Streaming['doStream']>[0]['prompt']

/** Everything the model streams for a prompt. */
export async function streamOf(model: LanguageModel, prompt: DemoPrompt): Promise<unknown[]> {
  const { stream } = await (model as Streaming).doStream({ prompt })
  return Array.fromAsync(stream)
}
