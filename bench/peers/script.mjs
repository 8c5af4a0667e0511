// What is asked of every system: a sentence, one call of a tool whose effect can be counted, then an answer of forty words.

import { appendFileSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export const question = 'Please note that.'
export const opening = 'Let me note that. '
export const words = Array.from({ length: 40 }, (_, index) => `word${index} `)
export const toolName = 'take_note'
export const toolDescription = 'Takes a note.'
export const toolInput = { text: 'that' }

/** With pauses for the crash, so that there is a middle; without for the time. */
export const pauses = process.env['PEERS_PAUSES'] !== '0'
export const pause = (ms) => (pauses ? sleep(ms) : undefined)

/** Says to whoever started this process what a client has just been shown. */
export const show = (what) => writeSync(1, `${JSON.stringify(what)}\n`)

/** The tool: leaves one line each time that it runs, and takes a while. */
export async function takeNote() {
  appendFileSync(process.env['PEERS_EFFECTS'], 'noted\n')
  if (pauses) show({ kind: 'tool-runs' })
  await pause(400)
  return { noted: true }
}

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
}
const finish = (reason) => ({
  type: 'finish',
  finishReason: { unified: reason, raw: reason },
  usage,
})

/** The script as a model of the AI SDK (specification v4). */
export const model = {
  specificationVersion: 'v4',
  provider: 'peers',
  modelId: 'peers',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('This model only streams.')),
  async doStream({ prompt }) {
    const isAnswered = prompt.some(({ role }) => role === 'tool')
    return { stream: ReadableStream.from(isAnswered ? answer() : call()) }
  },
}

async function* call() {
  yield { type: 'stream-start', warnings: [] }
  yield { type: 'text-start', id: 't' }
  yield { type: 'text-delta', id: 't', delta: opening }
  await pause(150)
  yield { type: 'text-end', id: 't' }
  const input = JSON.stringify(toolInput)
  yield { type: 'tool-input-start', id: 'call-1', toolName }
  yield { type: 'tool-input-delta', id: 'call-1', delta: input }
  yield { type: 'tool-input-end', id: 'call-1' }
  yield { type: 'tool-call', toolCallId: 'call-1', toolName, input }
  await pause(150)
  yield finish('tool-calls')
}

async function* answer() {
  yield { type: 'stream-start', warnings: [] }
  yield { type: 'text-start', id: 't' }
  for (const word of words) {
    await pause(20)
    yield { type: 'text-delta', id: 't', delta: word }
  }
  yield { type: 'text-end', id: 't' }
  yield finish('stop')
}

/** Shows a chunk of the AI SDK's UI message stream as a page would. */
export function showChunk(chunk) {
  if (chunk.type === 'text-delta') show({ kind: 'text', text: chunk.delta })
  else if (chunk.type === 'tool-input-available') show({ kind: 'call', id: chunk.toolCallId })
  else if (chunk.type === 'tool-output-available') show({ kind: 'result', id: chunk.toolCallId })
}

/** What a reload shows, of messages as the AI SDK has them. */
export function toReloaded(messages) {
  const parts = messages
    .filter(({ role }) => role === 'assistant')
    .flatMap((message) => message.parts)
  return {
    hasQuestion: messages.some(({ role }) => role === 'user'),
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    calls: parts
      .filter((part) => part.type === `tool-${toolName}` || part.type === 'dynamic-tool')
      .map(({ toolCallId, state }) => ({
        id: toolCallId,
        state: state === 'output-available' ? 'done' : state === 'output-error' ? 'ended' : 'open',
      })),
  }
}
