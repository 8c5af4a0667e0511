import { tool, type ToolSet } from 'ai'
import { appendFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { ErrorText } from '../engine/run/failure-texts.ts'
import type { ToolPolicy } from '../engine/agent/tool-policy.ts'
import { aflCodeFor, demoSource, stockOf, timeIn, weatherIn } from './demo-data.ts'
import { type DemoNotes, memoryNotes } from './demo-notes.ts'
import { createWorkTools } from './demo-work-tools.ts'

/** Options of {@link createDemoTools}. */
export interface DemoToolsOptions {
  /** The notes that the tools search, read, write and delete. @default memoryNotes() */
  readonly notes?: DemoNotes
  /**
   * A file or an array that gets one line of JSON per charge, so that a test can count them.
   * @default an array of its own
   */
  readonly charges?: string | string[]
  /** The clock of `get_time` and of charges, in milliseconds. @default Date.now */
  readonly now?: () => number
  /** How slow tools wait. It should reject when the signal is aborted. @default a timer */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>
}

/** Tools with the policies that they need, to be spread into the options of `createHoldfast`. */
export interface DemoTools {
  readonly tools: ToolSet
  readonly policies: Readonly<Record<string, ToolPolicy>>
  /** The errors of these tools are invented as well, so their text is shown to clients. */
  readonly errorText: ErrorText
}

/** The version of the tools' result format; cards check it. */
const demoVersion = '1'

const signed = { version: demoVersion, source: demoSource } as const

/**
 * The tools that the demo model calls. All of them are harmless, and their data is made up. All are repeatable
 * but `delete_note` and `charge_card`; `delete_note` needs an approval.
 *
 * @example
 * const holdfast = createHoldfast({ store, model: demoModel(), ...createDemoTools() })
 */
export function createDemoTools(options: DemoToolsOptions = {}): DemoTools {
  const {
    notes = memoryNotes(),
    now = Date.now,
    charges = [],
    wait = (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
  } = options
  const onCharge = async (line: string) => {
    if (typeof charges === 'string') await appendFile(charges, `${line}\n`)
    else charges.push(line)
  }
  const tools: ToolSet = {
    get_weather: tool({
      description: 'The weather in a city (demo data).',
      inputSchema: z.object({ city: z.string().min(1) }),
      execute: ({ city }) => ({ ...signed, ...weatherIn(city) }),
    }),
    get_time: tool({
      description: 'The time in a city.',
      inputSchema: z.object({ city: z.string().min(1) }),
      execute: ({ city }) => ({ ...signed, source: 'the server’s clock', ...timeIn(city, now()) }),
    }),
    get_stock: tool({
      description: 'The price of a stock and its last 30 days (demo data).',
      inputSchema: z.object({ ticker: z.string().min(1) }),
      execute: ({ ticker }) => ({ ...signed, ...stockOf(ticker) }),
    }),
    get_afl_code: tool({
      description: 'A formula in the AmiBroker formula language (demo data).',
      inputSchema: z.object({ subject: z.string().min(1) }),
      execute: ({ subject }) => ({ ...signed, ...aflCodeFor(subject) }),
    }),
    ...createNoteTools(notes),
    ...createWorkTools({ signed, onCharge, now, wait }),
  }
  const careful: Readonly<Record<string, ToolPolicy>> = {
    delete_note: { approval: 'always', repeatable: false, version: demoVersion },
    charge_card: { approval: 'never', repeatable: false, version: demoVersion },
  }
  const free: ToolPolicy = { approval: 'never', repeatable: true, version: demoVersion }
  const policies = Object.keys(tools).map((name) => [name, careful[name] ?? free] as const)
  // Errors of a model, which may be a real one beside these tools, are not shown.
  const errorText: ErrorText = (_, { source, message }) => (source === 'model' ? '' : message)
  return { tools, policies: Object.fromEntries(policies), errorText }
}

function createNoteTools(notes: DemoNotes): ToolSet {
  const find = async (title: string) => {
    const wanted = title.trim().toLowerCase()
    return (await notes.list()).find((note) => note.title.toLowerCase() === wanted)
  }
  const missing = (title: string) => new Error(`There is no note called “${title}”.`)
  return {
    search_notes: tool({
      description: 'Finds notes by a word in their title or text.',
      inputSchema: z.object({ query: z.string().min(1) }),
      async execute({ query }) {
        const words = query.toLowerCase().split(/\s+/)
        const found = (await notes.list()).filter(({ title, text }) =>
          words.some((word) => `${title} ${text}`.toLowerCase().includes(word)),
        )
        const results = found.map(({ title, text }) => ({ title, snippet: text.slice(0, 60) }))
        return { ...signed, query, results }
      },
    }),
    read_note: tool({
      description: 'The whole text of a note.',
      inputSchema: z.object({ title: z.string().min(1) }),
      async execute({ title }) {
        const note = await find(title)
        if (note === undefined) throw missing(title)
        return { ...signed, ...note }
      },
    }),
    write_note: tool({
      description: 'Writes a note, in the place of one with the same title. The text is Markdown.',
      inputSchema: z.object({ title: z.string().min(1), text: z.string().min(1) }),
      async execute({ title, text }) {
        await notes.write({ title, text })
        return { ...signed, title, words: text.split(/\s+/).length }
      },
    }),
    delete_note: tool({
      description: 'Deletes a note. It cannot be brought back.',
      inputSchema: z.object({ title: z.string().min(1) }),
      async execute({ title }) {
        const note = await find(title)
        if (note === undefined || !(await notes.remove(note.title))) throw missing(title)
        return { ...signed, title: note.title, deleted: true }
      },
    }),
  }
}
