import {
  HoldfastError,
  type HoldfastOptions,
  type NewEvent,
  type PlannedCommit,
  type ShareRecords,
} from 'holdfast'
import type { FileRecords } from 'holdfast/store'
import { simulate, type SimulationOptions } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { readFiles } from '../support/read-files.ts'
import { withModel, withOptions, withVerbs } from './broken-engines.ts'
import { foldAndForget, foldAndReopen, foldWithoutResults } from './broken-folds.ts'
import { answerSecond, joinEarly, leaveWaiting, queueTwice } from './broken-queues.ts'
import {
  changing,
  collectingAll,
  hasty,
  openBroken,
  openWithFence,
  renumbered,
  rewriting,
  showingLater,
} from './broken-stores.ts'
import { stores } from './run-seeds.ts'

type Break = Omit<Partial<SimulationOptions>, 'seed'>

const mostSeeds = 3_000
const timeoutMs = 180_000

/** Seeds that have found what is found seldom. They are tried first; any other would do. */
const foundSeldom: Readonly<Record<string, number>> = {
  'a store that takes writes from those who come back late': 298,
  'an engine that tells the model that what was shown was said twice, so that it is repeated': 458,
  'a store that does not show again what it is told to': 76,
  'a store that forgets what joined a turn, and what was withdrawn': 6325,
  'an engine that repeats what must not be repeated': 69,
  'a store that forgets what waits': 59,
}

/** A seed that shows this rule to be broken, in these words. */
async function findSeed(
  broken: Break,
  rule: string,
  words: RegExp,
  first = 1,
): Promise<number | undefined> {
  for (let nth = 0; nth <= mostSeeds; nth++) {
    const seed = nth === 0 ? first : nth
    const { violations } = await simulate({ openStore: stores.memory, ...broken, seed })
    const isIt = violations.some((found) => found.rule === rule && words.test(found.message))
    if (isIt) return seed
  }
  return undefined
}

const rewritten = (rewrite: (event: NewEvent) => NewEvent): Break => ({
  create: withOptions(({ store }) => ({ store: rewriting(store, rewrite) })),
})

/** The event says it, and the rows do not. */
const withoutShown = (commit: PlannedCommit): PlannedCommit => ({
  ...commit,
  append: {
    ...commit.append,
    events: commit.append.events.map((event) =>
      event.type === 'messages-shown' ? { ...event, places: [] } : event,
    ),
  },
})

/** `words`: what the violation says, where a rule has several. */
const breaks: readonly (readonly [rule: string, what: string, broken: Break, words?: RegExp])[] = [
  [
    'LG1',
    'a store that gives a number twice',
    {
      openStore: openBroken((store) => ({
        commit: async (appends) => (await store.commit(appends)).map(renumbered),
      })),
    },
  ],
  [
    'VR1',
    'a store that finds no way back to what was replaced',
    { openStore: openBroken(() => ({ readPath: async () => null })) },
  ],
  [
    'LG4',
    'a store that does not show again what it is told to',
    {
      openStore: openBroken((store) => ({
        commit: (commits) => store.commit(commits.map((commit) => withoutShown(commit))),
      })),
    },
  ],
  [
    'IN2',
    'a store that forgets what waits',
    {
      openStore: openBroken((store) => ({
        async readThread(id) {
          const thread = await store.readThread(id)
          return thread === null ? null : { ...thread, queue: [] }
        },
      })),
    },
  ],
  [
    'IN2',
    'an engine that answers the second of those that wait before the first',
    { create: withOptions(({ store }) => ({ store: changing(store, answerSecond) })) },
    /out of its order/,
  ],
  [
    'IN2',
    'an engine that ends a turn and leaves what waits',
    { create: withOptions(({ store }) => ({ store: changing(store, leaveWaiting) })) },
    /waits and nothing runs/,
  ],
  [
    'IN3',
    'an engine that lets an input join while a tool runs',
    { create: withOptions(({ store }) => ({ store: changing(store, joinEarly) })) },
  ],
  [
    'IN4',
    'an engine that takes an interrupt for one more that waits',
    {
      create: withVerbs((holdfast) => ({
        send: (request) =>
          holdfast.send({
            ...request,
            ...(request.whenBusy === 'interrupt' ? { whenBusy: 'queue' } : {}),
          }),
      })),
    },
  ],
  [
    'IN6',
    'an engine that stores an input that waits once more',
    { create: withOptions(({ store }) => ({ store: changing(store, queueTwice) })) },
  ],
  [
    'IN6',
    'a store that forgets what joined a turn, and what was withdrawn',
    { openStore: openBroken(() => ({ findInput: async () => null })) },
    /answered/,
  ],
  [
    'FL2',
    'a store that collects files that messages name',
    { openStore: openBroken((store) => ({ files: collectingAll(store) })) },
    /lost/,
  ],
  [
    'FL2',
    'a store that collects nothing',
    {
      openStore: openBroken(({ files }) => ({
        files: { ...(files as FileRecords), claimUnused: async () => [] },
      })),
    },
    /kept/,
  ],
  [
    'FK4',
    'an engine that stores another rating than was given',
    rewritten((event) =>
      event.type === 'feedback-given' && event.rating === 'down'
        ? { ...event, rating: 'up' }
        : event,
    ),
  ],
  [
    'FK5',
    'a store whose links show less than was shared',
    {
      openStore: openBroken(({ shares }) => ({
        shares: {
          ...(shares as ShareRecords),
          add: async (id, texts) => shares?.add(id, texts.slice(1)),
        },
      })),
    },
  ],
  [
    'FK5',
    'a store whose links show what came after they were made',
    {
      openStore: openBroken((store) => ({ shares: showingLater(store) })),
    },
  ],
  [
    'VR4',
    'a store that forgets where a thread was forked from',
    {
      openStore: openBroken((store) => ({
        async readThread(id) {
          const { forkedFrom: _, ...thread } = (await store.readThread(id)) ?? {}
          return 'id' in thread ? thread : null
        },
      })),
    },
  ],
  [
    'LG2',
    'an engine that shows before it commits',
    { create: withOptions(({ store }) => ({ store: hasty(store) })) },
  ],
  [
    'LG3',
    'an engine that gives up a turn for nothing',
    {
      create: withModel(() => {
        throw new HoldfastError('store-failed', 'It is not so.')
      }),
    },
  ],
  [
    'AG8',
    'an engine that tells the model that what was shown was said twice, so that it is repeated',
    {
      create: withModel((call) => ({
        ...call,
        prompt: call.prompt.map((message, index) =>
          message.role === 'assistant' && index === call.prompt.length - 2
            ? { ...message, content: [...message.content, ...message.content] }
            : message,
        ),
      })),
    },
  ],
  ['LG4', 'a fold that loses an event', { fold: foldWithoutResults }],
  [
    'LG4',
    'a store that leaves a message out of its pages',
    {
      openStore: openBroken((store) => ({
        async readPage(query) {
          const page = await store.readPage(query)
          return page === null || query.before === null
            ? page
            : { ...page, messages: page.messages.slice(1) }
        },
      })),
    },
  ],
  [
    'LG6',
    'an engine that changes what a user wrote',
    {
      create: withVerbs((holdfast) => ({
        send: (request) =>
          holdfast.send({
            ...request,
            message: { ...request.message, parts: [{ type: 'text', text: '?' }] },
          }),
      })),
    },
  ],
  ['LG8', 'an engine that stores half a character', rewritten(cutCharacters)],
  ['LG9', 'an engine that takes a falsy result for none', rewritten(loseFalsy)],
  ['CL2', 'a fold that opens an ended call again', { fold: foldAndReopen }],
  [
    'CL2a',
    'an engine that calls every output of a client late',
    {
      create: withVerbs(() => ({
        addToolOutputs: async (_threadId, outputs) =>
          outputs.map(() => ({ kind: 'too-late', state: 'ready' }) as const),
      })),
    },
  ],
  [
    'CL3',
    'an engine that runs a tool before its call is stored',
    { create: withOptions(runEarly) },
  ],
  [
    'CR1',
    'engines that never look for dead runs',
    {
      create: withOptions(({ store }) => ({
        store: { ...store, findAbandonedRuns: async () => [] },
      })),
    },
  ],
  ['CR1', 'a fold that forgets old messages', { fold: foldAndForget }],
  [
    'CR2',
    'a store that takes writes from those who come back late',
    {
      openStore: openWithFence((append, fence) =>
        append.lease === undefined || append.lease.kind === 'acquire'
          ? append
          : { ...append, lease: { ...append.lease, fence } },
      ),
    },
  ],
  [
    'CR3',
    'an engine that resolves nothing and says it did',
    { create: withVerbs(() => ({ resolve: async () => ({ kind: 'resolved' }) })) },
  ],
  [
    'CR4',
    'an engine that repeats what must not be repeated',
    {
      create: withOptions(({ policies }) => ({
        policies: Object.fromEntries(
          Object.entries(policies ?? {}).map(([name, policy]) => [
            name,
            { ...policy, repeatable: true },
          ]),
        ),
      })),
    },
  ],
  ['AP1', 'an engine that asks nobody', { create: withOptions(() => ({ policies: {} })) }],
  [
    'AP2',
    'an engine that tells both of two deciders that they won',
    {
      create: withVerbs((holdfast) => ({
        decide: async (request) =>
          (await holdfast.decide(request)).map((result) =>
            result.kind === 'already-decided' ? { kind: 'accepted' } : result,
          ),
      })),
    },
  ],
  [
    'AP9',
    'an engine that does not find the call that is decided',
    {
      create: withVerbs(() => ({
        decide: async ({ decisions }) => decisions.map(() => ({ kind: 'not-found' }) as const),
      })),
    },
  ],
  ['AP3', 'an engine that runs tools with other arguments', { create: withOptions(alterInput) }],
  [
    'ST1',
    'a stop that stops nothing',
    { create: withVerbs(() => ({ stop: async () => ({ kind: 'stopped', held: 0 }) })) },
  ],
  [
    'ST1a',
    'a stop that calls a waiting turn idle',
    { create: withVerbs(() => ({ stop: async () => ({ kind: 'idle', held: 0 }) })) },
  ],
  [
    'ST3',
    'a prompt without results',
    {
      create: withModel((call) => ({
        ...call,
        prompt: call.prompt.filter(({ role }) => role !== 'tool'),
      })),
    },
  ],
  [
    'RS2',
    'a stream that leaves out a frame',
    {
      create: withVerbs((holdfast) => ({
        async *subscribe(threadId, after, signal) {
          let count = 0
          for await (const frame of holdfast.subscribe(threadId, after, signal)) {
            if (++count % 5 !== 0) yield frame
          }
        },
      })),
    },
  ],
  [
    'RS5',
    'a store that gives a run to anybody who asks',
    {
      openStore: openWithFence((append, overFence) =>
        append.lease?.kind === 'acquire'
          ? { ...append, lease: { ...append.lease, overFence } }
          : append,
      ),
    },
  ],
]

describe('the simulation', () => {
  it.each(breaks.map(([rule, what, broken, words = /./]) => [rule, what, broken, words] as const))(
    'turns red for %s on %s',
    async (rule, what, broken, words) => {
      expect(await findSeed(broken, rule, words, foundSeldom[what])).toBeTypeOf('number')
    },
    timeoutMs,
  )

  it('remembers seeds of breaks that there are', () => {
    const all = new Set(breaks.map(([, what]) => what))
    expect(Object.keys(foundSeldom).filter((what) => !all.has(what))).toEqual([])
  })

  it('has a break for every rule that it checks', () => {
    const sources = [...readFiles('src/testing/simulation/*.ts').values()].join('\n')
    const checked = [...sources.matchAll(/(?:report\(|rule: )'([A-Z]+\d+[a-z]?)'/g)].map(
      ([, rule]) => rule,
    )
    expect(new Set(checked)).toEqual(new Set(breaks.map(([rule]) => rule)))
  })
})

function cutCharacters(event: NewEvent): NewEvent {
  if (event.type !== 'text-appended') return event
  return { ...event, delta: event.delta.replace(/[\udc00-\udfff]$/, '') }
}

function loseFalsy(event: NewEvent): NewEvent {
  if (event.type !== 'call-settled' || event.outcome.state !== 'succeeded') return event
  const { output } = event.outcome
  const value = output.kind === 'inline' ? output.value || 'nothing' : 'nothing'
  return { ...event, outcome: { state: 'succeeded', output: { kind: 'inline', value } } }
}

function runEarly({ tools = {}, policies }: HoldfastOptions): Partial<HoldfastOptions> {
  const look = tools.look?.execute as ((...args: unknown[]) => unknown) | undefined
  return {
    policies: {
      ...policies,
      look: {
        repeatable: true,
        approval(input, { toolCallId }) {
          void look?.(input, { toolCallId, messages: [] })
          return false
        },
      },
    },
  }
}

function alterInput({ tools = {} }: HoldfastOptions): Partial<HoldfastOptions> {
  const { charge } = tools
  const execute = charge?.execute as ((...args: unknown[]) => unknown) | undefined
  const altered = { ...charge, execute: (_: unknown, more: unknown) => execute?.({ n: -1 }, more) }
  return { tools: { ...tools, charge: altered as unknown as NonNullable<typeof charge> } }
}
