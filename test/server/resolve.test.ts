import { tool } from 'ai'
import { callsOf, createHoldfast, type Json, memory, parseThreadId } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture } from '../engine/fixture.ts'

/** A call whose process is gone, as the process after it finds it, and how to say what became of it. */
async function unknownCall() {
  const store = memory()
  const charge = tool({
    inputSchema: z.object({}),
    outputSchema: z.object({ receipt: z.number(), note: z.string().default('none') }),
    execute: () => new Promise<{ receipt: number; note: string }>(() => {}),
  })
  const options = { tools: { charge }, store }
  const first = await createFixture(() => [{ call: 'charge', input: {} }], options)
  await first.send('go')
  await first.until(({ messages }) => {
    const turn = messages.at(-1)
    return turn?.role === 'assistant' && [...callsOf(turn)].some(({ state }) => state === 'running')
  })
  await first.holdfast.close()
  const model = scriptedModel(() => [{ text: 'Went on.' }])
  const holdfast = createHoldfast({ ...options, model, recoverEveryMs: 0 })
  await holdfast.recover()
  await holdfast.settled()
  const [call] = callsOf(await first.last())
  expect(call?.state).toBe('unknown')
  const handler = createHandler(holdfast, {
    authenticate: (request) => ({ id: request.headers.get('x-user') ?? 'owner' }),
  })
  const resolve = async (body: Json, callId = call?.id) => {
    const path = `/api/threads/${parseThreadId('thread-1')}/tool-calls/${callId}/resolve`
    const response = await handler(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
    await holdfast.settled()
    return { status: response.status, body: (await response.json()) as unknown }
  }
  return { resolve, last: () => first.last() }
}

describe('a call that was resolved', () => {
  it('[AP3 CR3] refuses a field that it does not know: a misspelt result would not be stored', async () => {
    const { resolve, last } = await unknownCall()
    const refused = await resolve({ resolution: 'done', output: { receipt: 7 } })
    const message = 'A resolution has no option "output". Its options are resolution, result.'
    expect(refused).toEqual({ status: 400, body: { error: { code: 'bad-request', message } } })
    expect([...callsOf(await last())]).toMatchObject([{ state: 'unknown' }])
  })

  it.each(['done', 'skip'] as const)(
    '[CR3] as %s says to the second who it was, when and what',
    async (resolution) => {
      const { resolve } = await unknownCall()
      const body = resolution === 'done' ? { resolution, result: { receipt: 1 } } : { resolution }
      expect(await resolve(body)).toMatchObject({ status: 200 })
      const again = await resolve({ resolution: 'retry' })
      expect(again).toEqual({
        status: 409,
        body: {
          error: {
            code: 'already-resolved',
            message: expect.stringMatching(/owner/) as string,
            resolvedBy: 'owner',
            resolution,
            resolvedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
            state: resolution === 'done' ? 'succeeded' : 'unknown',
          },
        },
      })
    },
  )

  it('[CR3] has one winner of two at once', async () => {
    const { resolve } = await unknownCall()
    const results = await Promise.all([
      resolve({ resolution: 'skip' }),
      resolve({ resolution: 'done', result: { receipt: 1 } }),
    ])
    expect(results.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  })
})

describe('what a person says a call returned', () => {
  it('[CR3] is stored as the output schema of the tool makes it', async () => {
    const { resolve, last } = await unknownCall()
    const result = { receipt: 7, admin: true }
    expect(await resolve({ resolution: 'done', result })).toMatchObject({ status: 200 })
    expect([...callsOf(await last())]).toMatchObject([
      { state: 'succeeded', output: { value: { receipt: 7, note: 'none' } } },
    ])
    const [call] = callsOf(await last())
    expect(call?.state === 'succeeded' && call.output).toEqual({
      kind: 'inline',
      value: { receipt: 7, note: 'none' },
    })
  })

  it('[CR3] is refused where it does not fit, and the call stays unknown', async () => {
    const { resolve, last } = await unknownCall()
    expect(await resolve({ resolution: 'done', result: { receipt: 'seven' } })).toMatchObject({
      status: 422,
      body: {
        error: { code: 'invalid-result', message: expect.stringMatching(/receipt/) as string },
      },
    })
    expect([...callsOf(await last())]).toMatchObject([{ state: 'unknown' }])
    expect(await resolve({ resolution: 'skip' })).toMatchObject({ status: 200 })
  })
})
