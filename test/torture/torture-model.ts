import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type LanguageModel, tool, type ToolSet } from 'ai'
import type { ToolPolicy } from 'holdfast'
import { type PromptMessage, type ScriptPart, scriptedModel } from 'holdfast/testing'
import { z } from 'zod'
import { endlessModel } from '../support/endless-model.ts'

/** What a person can ask for; the number makes every question, and what it leads to, countable. */
export const questions = ['look', 'charge', 'remove', 'watch', 'story', 'endless'] as const
export type Question = (typeof questions)[number]

type Model = Exclude<LanguageModel, string> & { readonly specificationVersion: 'v4' }

/** What an endless answer is cut off at. */
export const maxTextChars = 150_000

/** Answers by what was asked last: a function of the prompt alone, so that any process can go on with any turn. */
export function tortureModel(): LanguageModel {
  const scripted = scriptedModel(({ prompt }) => script(prompt)) as Model
  const endless = endlessModel((index) => [
    ...(index === 0 ? [{ type: 'text-start', id: 'endless' } as const] : []),
    { type: 'text-delta', id: 'endless', delta: `And ${index} more of the same. `.repeat(20) },
  ])
  const doStream: Model['doStream'] = (options) => {
    const isEndless = readQuestion(options.prompt).question === 'endless'
    return (isEndless ? endless : scripted).doStream(options)
  }
  return { ...scripted, doStream } satisfies Model
}

function readQuestion(prompt: readonly PromptMessage[]) {
  const last = prompt.findLastIndex(({ role }) => role === 'user')
  const [, question = 'story', number = '0'] =
    /"(\w+) (\d+)"/.exec(JSON.stringify(prompt[last])) ?? []
  const done = prompt.slice(last).filter(({ role }) => role === 'tool').length
  return { question, n: Number(number), done }
}

function script(prompt: readonly PromptMessage[]): readonly ScriptPart[] {
  const { question, n, done } = readQuestion(prompt)
  const textOf = (text: string): readonly ScriptPart[] =>
    `${text} (${n})`
      .split(/(?<= )/)
      .flatMap((word) => [{ text: word }, { waitMs: 10 }] satisfies ScriptPart[])
  if (done > 0)
    return textOf(`That is all there is to say about the ${question} that was asked for.`)
  switch (question) {
    case 'look':
      return [
        ...textOf('Let me look in two places.'),
        { call: 'look', input: { n }, streamed: true },
        { call: 'look', input: { n: n + 1 } },
      ]
    case 'charge':
    case 'remove':
    case 'watch':
      return [...textOf(`I am about to ${question}.`), { call: question, input: { n } }]
    default:
      return textOf('Once upon a time there was a long story that took its time. '.repeat(8))
  }
}

/** Tools that leave a line for every time that they really ran, before anything else. */
export function tortureTools(trace: string): ToolSet {
  const inputSchema = z.object({ n: z.number() })
  const leave = (name: string, n: number, callId: string) =>
    appendFileSync(trace, `${name} ${n} ${callId}\n`)
  const working = (name: string, ms: number) =>
    tool({
      inputSchema,
      async execute({ n }, { toolCallId, abortSignal }) {
        leave(name, n, toolCallId)
        await pause(ms, undefined, abortSignal === undefined ? {} : { signal: abortSignal })
        return { name, n }
      },
    })
  return {
    look: working('look', 120),
    charge: working('charge', 400),
    remove: working('remove', 100),
    watch: tool({
      inputSchema,
      async *execute({ n }, { toolCallId }) {
        leave('watch', n, toolCallId)
        for (let seen = 1; seen <= 5; seen++) {
          yield { n, seen }
          await pause(60)
        }
      },
    }),
  }
}

export const torturePolicies: Readonly<Record<string, ToolPolicy>> = {
  look: { repeatable: true },
  watch: { repeatable: true },
  remove: { approval: 'always' },
}

/** The tools that may run once for each question, whatever happens. */
export const onceOnly: ReadonlySet<string> = new Set(['charge', 'remove'])
