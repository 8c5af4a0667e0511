import { tool } from 'ai'
import { memory, parseThreadId, type Store } from 'holdfast'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { startChatServer } from './chat-server.ts'
import { beforeCommit, countVerbs } from './count-verbs.ts'

interface UiPart {
  readonly type: string
  readonly toolCallId?: string
  readonly state?: string
  readonly approval?: { readonly id: string; readonly approved?: boolean }
}
interface UiMessage {
  readonly role: string
  readonly parts: readonly UiPart[]
}

/** Sends a message to the thread `t`, and reads the answer to its end. */
async function chat(url: string, message: object): Promise<string> {
  const response = await postTo(`${url}/api/chat`, { id: 't', messages: [message] })
  const text = await response.text()
  expect([response.status, text]).toEqual([200, expect.stringContaining('[DONE]')])
  return text
}

const question = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'go' }] }

async function readNewest(url: string): Promise<UiMessage> {
  const response = await fetch(`${url}/api/threads/t/messages?limit=1`)
  const page = (await response.json()) as { readonly results: readonly UiMessage[] }
  return page.results[0] ?? { role: '', parts: [] }
}

const isWaiting = ({ state }: UiPart): boolean => state === 'approval-requested'

const approve = (part: UiPart): UiPart => ({
  ...part,
  state: 'approval-responded',
  approval: { id: part.approval?.id ?? '', approved: true },
})

/** The verbs from an approval over `/api/chat` until its turn has ended, in a turn with so many calls that have ended. */
async function verbsOfApproval(ended: number): Promise<readonly string[]> {
  const { store, drain } = countVerbs(memory())
  const { url, holdfast, ran } = await startChatServer(
    (_, step) => {
      if (step === 0) {
        return Array.from({ length: ended }, () => ({ call: 'weather', input: { city: 'Oslo' } }))
      }
      return step === 1 ? [{ call: 'remove', input: { path: '/tmp' } }] : [{ text: 'Done.' }]
    },
    { store },
  )
  await chat(url, question)
  await holdfast.settled()
  const message = await readNewest(url)
  expect(message.parts.filter(({ state }) => state === 'output-available')).toHaveLength(ended)
  drain()
  const parts = message.parts.map((part) => (isWaiting(part) ? approve(part) : part))
  await chat(url, { ...message, parts })
  await holdfast.settled()
  expect(ran.filter((name) => name === 'remove')).toHaveLength(1)
  return drain()
}

it('[AP2] an approval over the chat route is one read before its commit, however many calls of the turn have ended', async () => {
  const few = await verbsOfApproval(1)
  const many = await verbsOfApproval(50)
  expect([beforeCommit(few), beforeCommit(many)]).toEqual([['findTurn'], ['findTurn']])
  // What follows the commit is read beside the run, in any order: the history by the run, and the turn by the reader of the
  // response, who reads changes too if the run was ahead.
  const reads = (verbs: readonly string[]) =>
    verbs.filter((verb) => !/^(commit|readChanges)/.test(verb)).toSorted()
  expect([reads(few), reads(many)]).toEqual([
    ['findTurn', 'findTurn', 'readPage'],
    ['findTurn', 'findTurn', 'readPage'],
  ])
})

it('[AP2] an approval over the chat route is planned again on the turn as it is, if another decision came first', async () => {
  const base = memory()
  let afterFind = async (): Promise<unknown> => undefined
  const { store, drain } = countVerbs({
    ...base,
    async findTurn(...query) {
      const found = await base.findTurn(...query)
      await afterFind()
      return found
    },
  })
  const remove = { call: 'remove', input: { path: '/tmp' } } as const
  const { url, holdfast, ran } = await startChatServer(
    (_, step) => (step === 0 ? [remove, remove] : [{ text: 'Done.' }]),
    { store },
  )
  await chat(url, question)
  await holdfast.settled()
  const message = await readNewest(url)
  const [first, second] = message.parts.filter(isWaiting)
  afterFind = async () => {
    afterFind = async () => undefined
    const toolCallId = first?.toolCallId ?? ''
    const decisions = [{ toolCallId, decision: 'reject' }] as const
    expect(await holdfast.decide({ threadId: 't', by: 'another', decisions })).toEqual([
      { kind: 'rejected' },
    ])
    drain()
  }
  const parts = message.parts.map((part) => (part === second ? approve(part) : part))
  await chat(url, { ...message, parts })
  await holdfast.settled()
  expect(drain().slice(0, 3)).toEqual([
    'commit call-decided turn-resumed',
    'readCall',
    'commit call-decided turn-resumed',
  ])
  expect(ran).toEqual(['remove'])
})

it('[AP5 OP7] an approval in a turn that was found without its large results reads them before the turn goes on', async () => {
  const { store, drain } = countVerbs(memory())
  const large = tool({ inputSchema: z.object({}), execute: () => 'x'.repeat(900_000) })
  const { url, holdfast, calls } = await startChatServer(
    (_, step) => {
      if (step === 0) return Array.from({ length: 5 }, () => ({ call: 'large', input: {} }))
      return step === 1 ? [{ call: 'remove', input: { path: '/tmp' } }] : [{ text: 'Done.' }]
    },
    { store, tools: { large, remove: removeTool(() => {}) } },
  )
  await chat(url, question)
  await holdfast.settled()
  const message = await readNewest(url)
  drain()
  const parts = message.parts.map((part) => (isWaiting(part) ? approve(part) : part))
  await chat(url, { ...message, parts })
  await holdfast.settled()
  expect(beforeCommit(drain())).toEqual(['findTurn', 'readCall'])
  const prompts = calls.map(({ prompt }) => prompt)
  expect(prompts).toHaveLength(3)
  expect(prompts[2]?.slice(0, 3)).toEqual(prompts[1])
})

it('[ST5 OP7] an answer that is continued after it was found without its large results is read whole before it goes on', async () => {
  const { store, drain } = countVerbs(memory())
  const large = tool({ inputSchema: z.object({}), execute: () => 'x'.repeat(900_000) })
  const { url, holdfast, calls } = await startChatServer(
    (_, step) => {
      if (step === 0) return Array.from({ length: 5 }, () => ({ call: 'large', input: {} }))
      return step === 1 ? [{ call: 'remove', input: { path: '/tmp' } }] : [{ text: 'Done.' }]
    },
    { store, tools: { large, remove: removeTool(() => {}) } },
  )
  await chat(url, question)
  await holdfast.stop(parseThreadId('t'))
  drain()
  await (await fetch(`${url}/api/chat/t/continue`, { method: 'POST' })).text()
  await holdfast.settled()
  expect(beforeCommit(drain())).toEqual(['readPage', 'readPage'])
  const prompts = calls.map(({ prompt }) => prompt)
  expect(prompts).toHaveLength(3)
  expect(prompts[2]?.slice(0, 3)).toEqual(prompts[1])
})

it.each<[string, (url: string, call: UiPart, message: UiMessage) => Promise<Response>]>([
  ['decisions', (url, call) => postTo(`${callUrl(url, call)}/decision`, { decision: 'accept' })],
  [
    'lists of decisions',
    (url, { toolCallId: callId }) =>
      postTo(`${url}/api/threads/t/decisions`, { decisions: [{ callId, decision: 'accept' }] }),
  ],
  ['resolutions', (url, call) => postTo(`${callUrl(url, call)}/resolve`, { resolution: 'skip' })],
  [
    'results of a client',
    (url, call, message) => {
      const parts = [{ ...call, state: 'output-available', output: 'another' }]
      return postTo(`${url}/api/chat`, { id: 't', messages: [{ ...message, parts }] })
    },
  ],
  ['requests to go on', (url) => postTo(`${url}/api/chat/t/continue`, {})],
])(
  '[OP7a] %s about a large turn that change nothing read one after the other, and without its large results',
  async (_, post) => {
    const base = memory()
    let isWatched = false
    let atOnce = 0
    const reads: { readonly results: unknown; readonly others: number }[] = []
    const watched =
      <Args extends readonly unknown[], Result>(
        read: (...args: Args) => Promise<Result>,
        resultsOf: (...args: Args) => unknown,
      ) =>
      async (...args: Args): Promise<Result> => {
        if (isWatched) reads.push({ results: resultsOf(...args), others: atOnce })
        atOnce++
        return read(...args).finally(() => atOnce--)
      }
    const store = {
      ...base,
      readCall: watched(
        (...args: Parameters<Store['readCall']>) => base.readCall(...args),
        (_thread, _call, results = 'full') => results,
      ),
      findTurn: watched(
        (...args: Parameters<Store['findTurn']>) => base.findTurn(...args),
        (_turn, results = 'full') => results,
      ),
      readPage: watched(
        (...args: Parameters<Store['readPage']>) => base.readPage(...args),
        ({ results }) => results,
      ),
    }
    const large = tool({ inputSchema: z.object({}), execute: () => 'x'.repeat(900_000) })
    const { url, holdfast } = await startChatServer(
      (_prompt, step) =>
        step === 0
          ? Array.from({ length: 5 }, () => ({ call: 'large', input: {} }))
          : [{ text: 'Done.' }],
      { store, tools: { large } },
    )
    await chat(url, question)
    await holdfast.settled()
    const message = await readNewest(url)
    const call = message.parts.find(({ toolCallId }) => toolCallId !== undefined)
    if (call === undefined) throw new Error('no call')
    isWatched = true
    await Promise.all(
      Array.from({ length: 8 }, async () => (await post(url, call, message)).text()),
    )
    expect(reads.length).toBeGreaterThanOrEqual(8)
    expect(reads.filter(({ results, others }) => results === 'full' || others > 0)).toEqual([])
  },
)

const callUrl = (url: string, { toolCallId }: UiPart): string =>
  `${url}/api/threads/t/tool-calls/${toolCallId}`

const postTo = (url: string, body: object): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const removeTool = (onStart: () => void) =>
  tool({
    inputSchema: z.object({ path: z.string() }),
    needsApproval: true,
    execute({ path }) {
      onStart()
      return { removed: path }
    },
  })

/** A turn that waits for one decision. `started`: for each run of its tool, the verbs from then until it started. */
async function waitingCall() {
  const { store, drain } = countVerbs(memory())
  const started: string[][] = []
  const remove = removeTool(() => started.push([...drain()]))
  const { url, holdfast } = await startChatServer(
    (_, step) => (step === 0 ? [{ call: 'remove', input: { path: '/tmp' } }] : [{ text: 'Done.' }]),
    { store, tools: { remove } },
  )
  const toolCallId = /"toolCallId":"([^"]+)"/.exec(await chat(url, question))?.[1] ?? ''
  await holdfast.settled()
  drain()
  return { url, holdfast, toolCallId, started }
}

it('[AP2] a decision is one read and one commit, and its run makes one more, the start of the call, before the tool starts', async () => {
  const { url, toolCallId, holdfast, started } = await waitingCall()
  const response = await fetch(`${url}/api/threads/t/tool-calls/${toolCallId}/decision`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ decision: 'accept' }),
  })
  await holdfast.settled()
  expect(response.status).toBe(200)
  expect(started).toEqual([['readCall', 'commit call-decided turn-resumed', 'commit call-started']])
})

it('[HT2] a decision or a resolution for an owner is not found in the thread of another, and nothing runs', async () => {
  const { holdfast, toolCallId, started } = await waitingCall()
  const threadId = parseThreadId('t')
  const of = (ownerId: string) =>
    holdfast.decide({
      threadId,
      ownerId,
      by: 'a job',
      decisions: [{ toolCallId, decision: 'accept' }],
    })
  expect(await of('somebody else')).toEqual([{ kind: 'not-found' }])
  expect(
    await holdfast.resolve({
      threadId: 't',
      ownerId: 'somebody else',
      toolCallId,
      resolution: 'skip',
      by: 'a job',
    }),
  ).toEqual({ kind: 'not-found' })
  await holdfast.settled()
  expect(started).toEqual([])
  expect(await of('local')).toEqual([{ kind: 'accepted' }])
  await holdfast.settled()
  expect(started).toHaveLength(1)
})
