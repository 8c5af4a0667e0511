import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../src/testing/random.ts'
import { sendRequest, requestJson } from './http.ts'
import { readAnswer } from './read-answer.ts'
import type { TortureContext } from './torture-context.ts'

/** An answer that is being made, and whose it is. */
export interface Interjected {
  readonly threadId: string
  readonly owner: string
  /** Of its question; the ones after it are nobody else's. */
  readonly number: number
}

/** What a person does beside waiting for an answer: writes into it, takes a copy of the thread, uploads a file. */
export async function interject(
  context: TortureContext,
  random: Random,
  into: Interjected,
): Promise<void> {
  await pause(random.int(400))
  const url = context.fleet.pick(random)
  if (url === undefined || context.over.aborted) return
  await random.pick([write, write, fork, upload])(context, random, url, into)
}

/** A message while the turn runs (IN1): queued, into the turn, or instead of it. */
async function write(
  context: TortureContext,
  random: Random,
  url: string,
  { threadId, owner, number }: Interjected,
): Promise<void> {
  const whenBusy = random.pick(['queue', 'queue', 'steer', 'interrupt'] as const)
  const n = number + 1 + random.int(8)
  const id = `m-${n}`
  const message = { id, role: 'user', parts: [{ type: 'text', text: `story ${n}` }] }
  const body = JSON.stringify({ id: threadId, messages: [message], whenBusy })
  if (whenBusy === 'steer') {
    // Where it joins a turn, the turn is shown to whoever asked for it.
    const answer = await sendRequest(`${url}/api/chat`, { owner, body })
    if (answer?.status === 200) context.coverage.add('messages: steer')
    await answer?.body?.cancel()
    return
  }
  const answer = await readAnswer(context, `${url}/api/chat`, { owner, body }, threadId, () => {
    context.shown.addMessage(threadId, id)
  })
  if (answer.isWhole) context.coverage.add(`messages: ${whenBusy}`)
}

/** A copy is there as a whole, or not at all (VR4). */
async function fork(
  context: TortureContext,
  random: Random,
  url: string,
  { threadId, owner }: Interjected,
): Promise<void> {
  const forked = await requestJson(`${url}/api/threads/${threadId}/fork`, { owner, body: '{}' })
  if (forked?.status !== 201) return
  const { id } = forked.json as { readonly id: string }
  const page = await requestJson(`${context.fleet.pick(random)}/api/threads/${id}/messages`, {
    owner,
  })
  if (page?.status !== 200) return
  const { results } = page.json as { readonly results: readonly unknown[] }
  if (results.length === 0) context.gaps.push(`the fork ${id} of ${threadId} is empty`)
  context.coverage.add('forks')
}

/** What is answered as kept is read on any server as it was sent (FL1). */
async function upload(
  context: TortureContext,
  random: Random,
  url: string,
  { owner, number }: Interjected,
): Promise<void> {
  const body = `${number} `.repeat(1 + random.int(20_000))
  const headers = { 'content-type': 'text/plain' }
  const kept = await sendRequest(`${url}/api/files`, { owner, body, headers })
  if (kept?.status !== 201) {
    await kept?.body?.cancel()
    return
  }
  const { id } = (await kept.json().catch(() => ({}))) as { readonly id?: string }
  const answer = await sendRequest(`${context.fleet.pick(random)}/api/files/${id}`, { owner })
  const text = await answer?.text().catch(() => undefined)
  // One that a clock says is old, and no message names, may be collected.
  if (answer?.status !== 200 || text === undefined) return
  if (text !== body) context.gaps.push(`the file ${id} is not what was sent`)
  context.coverage.add('files')
}
