import { setTimeout as pause } from 'node:timers/promises'
import { foldThread, type ThreadView, type Turn } from 'holdfast'
import { parseEventFrame, toChanges } from '../../src/protocol/event-frame.ts'
import type { Random } from '../../src/testing/random.ts'
import { type CallRecord, personsWord } from './evidence.ts'
import { requestJson, readStream } from './http.ts'
import { interject } from './interjections.ts'
import { readAnswer } from './read-answer.ts'
import type { TortureContext } from './torture-context.ts'
import { questions } from './torture-model.ts'

const againMs = 150

/** Asks one question after the other, with a second tab that follows, until the run is over. */
export async function actAsPerson(context: TortureContext, name: string): Promise<void> {
  const random = context.randomFor(name)
  const followers: Promise<void>[] = []
  for (let thread = 0; !context.over.aborted; thread++) {
    const threadId = `${name}-asks-for-the-time-no-${thread}`
    context.threads.set(threadId, name)
    const finished = new AbortController()
    followers.push(follow(context, threadId, name, finished.signal))
    const most = 1 + random.int(5)
    for (let message = 0; message < most && !context.over.aborted; message++) {
      const number = numberOf(name, thread, message)
      const text = `${random.pick(questions)} ${number}`
      const sending = { threadId, name, messageId: `m-${number}`, text, number }
      if (!(await converse(context, random, sending))) break
    }
    finished.abort()
  }
  await Promise.all(followers)
}

/** Different for every question of every person. */
const numberOf = (name: string, thread: number, message: number): number =>
  Number(/\d+/.exec(name)?.[0] ?? 0) * 10_000_000 + thread * 100 + message * 10

interface Sending {
  readonly threadId: string
  readonly name: string
  readonly messageId: string
  readonly text: string
  readonly number: number
}

/** Sends a message until it is answered whole; false if the run ended first. */
async function converse(
  context: TortureContext,
  random: Random,
  sending: Sending,
): Promise<boolean> {
  const { threadId, name: owner, messageId, text, number } = sending
  let hasInterjected = false
  const message = { id: messageId, role: 'user', parts: [{ type: 'text', text }] }
  const body = JSON.stringify({ id: threadId, messages: [message] })
  context.coverage.add('questions')
  while (!context.over.aborted) {
    const url = context.fleet.pick(random)
    const answer =
      url === undefined
        ? undefined
        : await readAnswer(context, `${url}/api/chat`, { owner, body }, threadId, () => {
            context.shown.addMessage(threadId, messageId)
            if (random.chance(0.08)) void stopSoon(context, random, threadId, owner)
            if (!hasInterjected && random.chance(0.3)) {
              hasInterjected = true
              void interject(context, random, { threadId, owner, number })
            }
          })
    if (answer?.isWhole === true && answer.turnId !== undefined) {
      return decideUntilEnded(context, random, threadId, answer.turnId)
    }
    // Whole and without a turn: a stop has held the message, and it is answered once a person sends it on (IN5).
    if (answer?.isWhole === true) {
      context.coverage.add('held messages sent on')
      await requestJson(`${url}/api/threads/${threadId}/queue/release`, { owner, method: 'POST' })
      continue
    }
    const { status = 0, refusal = '' } = answer ?? {}
    context.coverage.add(
      status < 400 ? 'answers that broke off' : `answers refused: ${status} ${refusal}`,
    )
    await pause(againMs)
  }
  return false
}

async function stopSoon(context: TortureContext, random: Random, threadId: string, owner: string) {
  await pause(random.int(600))
  const url = context.fleet.pick(random)
  if (url === undefined) return
  const answer = await requestJson(`${url}/api/chat/${threadId}/stop`, { owner, method: 'POST' })
  if (answer?.status === 200) context.coverage.add('stops')
}

/** Allows, refuses or resolves what waits, and reads on, until the turn has ended. */
async function decideUntilEnded(
  context: TortureContext,
  random: Random,
  threadId: string,
  turnId: string,
): Promise<boolean> {
  const owner = context.threads.get(threadId) ?? ''
  while (!context.over.aborted) {
    const isEnded = await decideOnce(context, random, threadId, turnId)
    if (isEnded === true) {
      context.coverage.add('turns answered whole')
      return true
    }
    const url = context.fleet.pick(random)
    const path = `/api/chat/${threadId}/stream?message=${turnId}`
    if (url !== undefined) await readAnswer(context, `${url}${path}`, { owner }, threadId)
    await pause(againMs)
  }
  return false
}

/** Whether the turn has ended; undefined if nobody could be asked. */
export async function decideOnce(
  context: TortureContext,
  random: Random,
  threadId: string,
  turnId: string,
): Promise<boolean | undefined> {
  const owner = context.threads.get(threadId) ?? ''
  const url = context.fleet.pick(random)
  if (url === undefined) return undefined
  const answer = await requestJson(`${url}/api/messages/${turnId}/tool-calls?include=all`, {
    owner,
  })
  if (answer?.status !== 200) return undefined
  const { toolCalls, isComplete } = answer.json as {
    readonly toolCalls: readonly CallRecord[]
    readonly isComplete: boolean
  }
  if (isComplete) return true
  for (const { id, state } of toolCalls) {
    const call = `${url}/api/threads/${threadId}/tool-calls/${id}`
    if (state === 'awaiting-approval') {
      const decision = random.chance(0.8) ? 'accept' : 'reject'
      await requestJson(`${call}/decision`, { owner, body: JSON.stringify({ decision }) })
      context.coverage.add('decisions')
    }
    if (state === 'unknown') {
      const resolution = random.chance(0.5)
        ? { resolution: 'done', result: personsWord }
        : { resolution: 'skip' }
      await requestJson(`${call}/resolve`, { owner, body: JSON.stringify(resolution) })
      context.coverage.add('unknown outcomes resolved')
    }
  }
  return false
}

/** A second tab: leaves and comes back on any server, and must be sent every change once, in order. */
async function follow(
  context: TortureContext,
  threadId: string,
  owner: string,
  finished: AbortSignal,
): Promise<void> {
  const random = context.randomFor(threadId)
  let view: ThreadView = { seq: 0, messages: [] }
  let place: string | undefined
  const isDone = () => finished.aborted && (context.over.aborted || hasEnded(view))
  while (!isDone()) {
    const url = context.fleet.pick(random)
    const leave = new AbortController()
    const timer = setTimeout(() => leave.abort(), 300 + random.int(4_000))
    const headers = place === undefined ? {} : { 'last-event-id': place }
    const status = await readStream(
      `${url}/api/threads/${threadId}/events`,
      { owner, headers },
      leave,
      ({ data, id, event }) => {
        if (event !== undefined) return
        const frame = parseEventFrame(data)
        if (frame === null || frame.after !== view.seq) {
          context.gaps.push(`${threadId} after ${view.seq}: ${data.slice(0, 120)}`)
          leave.abort()
          return
        }
        place = id ?? place
        view = foldThread(view, toChanges(frame))
        remember(context, threadId, view.messages.at(-1))
        if (isDone()) leave.abort()
      },
    )
    clearTimeout(timer)
    context.coverage.add('streams followed')
    // A place that this very thread gave out is never refused.
    if (status === 400 || status === 409) context.gaps.push(`${threadId}: ${place} is refused`)
    await pause(againMs)
  }
}

const hasEnded = ({ messages }: ThreadView): boolean => {
  const last = messages.at(-1)
  return last?.role === 'assistant' && last.progress.status === 'ended'
}

function remember(
  context: TortureContext,
  threadId: string,
  message: ThreadView['messages'][number] | undefined,
) {
  if (message?.role !== 'assistant') return
  const turn: Turn = message
  const shown = context.shown.turnOf(threadId, turn.id)
  for (const part of turn.steps.flatMap(({ parts }) => parts)) {
    if (part.type === 'text') shown.addText(part.text)
    if (part.type === 'call') {
      const isWhole = part.state === 'succeeded' && part.output.kind === 'inline'
      shown.addCall(part.id, isWhole ? part.output.value : undefined)
    }
  }
}
