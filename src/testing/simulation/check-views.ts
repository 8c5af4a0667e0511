import { joinedInputs } from '../../core/queue.ts'
import { isDeepStrictEqual } from 'node:util'
import { isOpenCall } from '../../core/call.ts'
import type { Seq, ThreadId } from '../../core/ids.ts'
import { callsOf, type Message } from '../../core/message.ts'
import type { Store } from '../../store/store.ts'
import type { PromptMessage } from '../scripted-model.ts'
import type { Oracle, Report } from './oracle.ts'

/** The pages of a thread, read one after another with this limit, are what the oracle folded (LG4, PG2). */
export async function checkPages(
  store: Store,
  threadId: ThreadId,
  oracle: Oracle,
  limit: number,
  report: Report,
): Promise<void> {
  const walked: Message[] = []
  let before: Seq | null = null
  do {
    const page = await store.readPage({ threadId, limit, before, live: 'include', results: 'full' })
    if (page === null) return report('CR1', `the thread ${threadId} is gone`)
    if (page.seq !== oracle.view.seq) {
      report('LG1', `a page says ${page.seq} where ${oracle.view.seq} was stored last`)
    }
    walked.push(...page.messages)
    before = page.hasMore ? (page.messages.at(-1)?.seq ?? null) : null
  } while (before !== null)
  const difference = findDifference(walked.toReversed(), oracle.view.messages)
  if (difference !== undefined) report('LG4', `pages of ${limit} have ${difference}`)
}

/** The newest messages equal the oracle's; cheap enough to run after every commit. */
export async function checkNewest(
  store: Store,
  threadId: ThreadId,
  oracle: Oracle,
  report: Report,
): Promise<void> {
  const query = { threadId, limit: 2, before: null, live: 'include', results: 'full' } as const
  const page = await store.readPage(query)
  const found = page?.messages.toReversed() ?? []
  const difference = findDifference(found, oracle.view.messages.slice(-2))
  if (difference !== undefined) report('LG4', `a reload at ${page?.seq} ${difference}`)
}

const texts = new WeakMap<object, string>()

/** The fold keeps unchanged messages as the same object, so each is serialized once however often it is compared. */
function textOf(message: Message): string {
  let text = texts.get(message)
  if (text === undefined) {
    text = JSON.stringify(message)
    texts.set(message, text)
  }
  return text
}

/** How two lists of messages differ as JSON, or undefined. */
export function findDifference(
  found: readonly Message[],
  expected: readonly Message[],
): string | undefined {
  const ids = (messages: readonly Message[]) => messages.map(({ id }) => id).join(' ')
  if (ids(found) !== ids(expected)) return `has [${ids(found)}], not [${ids(expected)}]`
  for (const [index, message] of found.entries()) {
    const other = expected[index] as Message
    if (message === other || textOf(message) === textOf(other)) continue
    if (isDeepStrictEqual(JSON.parse(textOf(message)), JSON.parse(textOf(other)))) continue
    return `has\n  ${textOf(message)}\nnot\n  ${textOf(other)}`
  }
  return undefined
}

/** The text of a user message carries its id, so that a prompt shows which messages it contains. */
export const userText = (id: string): string => `message <${id}>`
const numbered = /<([^>]+)>/g

/** A prompt is valid for providers (ST3) and contains every user message that the thread shows (LG4, LG6). */
export function checkPrompt(
  process: string,
  prompt: readonly PromptMessage[],
  oracles: Iterable<Oracle>,
  report: Report,
): void {
  const invalid = findInvalidPrompt(prompt)
  if (invalid !== undefined) report('ST3', `a prompt ${invalid}\n  ${JSON.stringify(prompt)}`)
  const sent = prompt.flatMap(({ role, content }) =>
    role === 'user' ? [...JSON.stringify(content).matchAll(numbered)].map((match) => match[1]) : [],
  )
  const last = sent.at(-1)
  for (const { view, lease, runSeq, events } of oracles) {
    const turn = view.messages.findLast((message) => message.role === 'assistant')
    // A run that lost its lease may still send a prompt of an older state; only the newest turn is checked.
    if (turn?.role !== 'assistant') continue
    if ((joinedInputs(turn).at(-1) ?? turn.replyTo) !== last) continue
    // A person may reopen a call at any time; the run sees it with its next commit, so a prompt before that is correct.
    const reopened = new Set(
      events.flatMap((event) =>
        event.type === 'call-resolved' && event.seq > runSeq ? [event.callId] : [],
      ),
    )
    const open = [...callsOf(turn)].filter(isOpenCall).filter(({ id }) => !reopened.has(id))
    if (lease?.holder === process && !lease.isAgain && open.length > 0) {
      report('CL3', `the model was called while ${open[0]?.id} was ${open[0]?.state}`)
    }
    const shown = view.messages.flatMap((message): readonly string[] => {
      if (message.seq > turn.seq) return []
      return message.role === 'assistant' ? joinedInputs(message) : [message.id]
    })
    if (shown.join(' ') !== sent.join(' ')) {
      report('LG6', `a prompt has [${sent.join(' ')}] of [${shown.join(' ')}]`)
    }
  }
}

interface PromptPart {
  readonly type: string
  readonly toolCallId?: string
  readonly text?: string
  readonly providerExecuted?: boolean
}

/** Why a provider would refuse this prompt (ST3), or undefined. */
function findInvalidPrompt(prompt: readonly PromptMessage[]): string | undefined {
  const messages = prompt.filter(({ role }) => role !== 'system')
  if (messages[0]?.role !== 'user') return 'does not begin with a user'
  const last = messages.at(-1)?.role
  if (last !== 'user' && last !== 'tool') return `ends with ${last}`
  const seen = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const parts = partsOf(message)
    if (parts.length === 0) return `has an empty ${message.role} message`
    if (parts.some((part) => part.type === 'text' && part.text?.trim() === '')) {
      return `has blank text in a ${message.role} message`
    }
    const before = messages[index - 1]
    const invalid =
      message.role === 'assistant'
        ? findInvalidAssistant(parts, messages[index + 1], seen)
        : message.role === 'tool'
          ? before?.role === 'assistant'
            ? undefined
            : 'has results after no call'
          : before?.role === 'user'
            ? 'has two user messages in a row'
            : undefined
    if (invalid !== undefined) return invalid
  }
  return undefined
}

function findInvalidAssistant(
  parts: readonly PromptPart[],
  next: PromptMessage | undefined,
  seen: Set<string>,
): string | undefined {
  const calls = parts.filter(({ type }) => type === 'tool-call')
  for (const { toolCallId = '' } of calls) {
    if (seen.has(toolCallId)) return `has the call ${toolCallId} twice`
    seen.add(toolCallId)
  }
  const own = calls.filter((call) => call.providerExecuted !== true)
  const results = next?.role === 'tool' ? partsOf(next) : []
  const wanted = own.map(({ toolCallId }) => toolCallId)
  const given = new Set(results.map(({ toolCallId }) => toolCallId))
  const isAnswered = given.size === results.length && given.size === wanted.length
  if (!isAnswered || wanted.some((id) => !given.has(id))) {
    return `has calls [${wanted.join()}] followed by results [${[...given].join()}]`
  }
  if (own.length === 0 && next?.role !== 'user') return `has ${next?.role} after the assistant`
  return undefined
}

const partsOf = ({ content }: PromptMessage): readonly PromptPart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : (content as readonly PromptPart[])
