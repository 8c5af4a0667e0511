import { tool, type ToolSet } from 'ai'
import { callsOf } from 'holdfast'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, statesOf } from './fixture.ts'

const tools: ToolSet = {
  remove: tool({ inputSchema: z.object({}), execute: () => 'removed' }),
  ask: tool({ inputSchema: z.object({}) }),
}

/** A turn that waits for a person, or for the client, at two calls. */
async function waitAt(name: 'remove' | 'ask') {
  const fixture = await createFixture(
    ({ prompt }) =>
      prompt.at(-1)?.role === 'tool'
        ? [{ text: 'Done.' }]
        : [
            { call: name, input: {} },
            { call: name, input: {} },
          ],
    { tools, policies: { remove: { approval: 'always' } } },
  )
  const turn = await fixture.runTurn('go')
  const [first = '', second = ''] = [...callsOf(turn)].map(({ id }) => id)
  return { ...fixture, first, second }
}

function warnings(): string[] {
  const printed: string[] = []
  process.on('warning', ({ message, name }) => {
    if (name === 'DeprecationWarning' && message.includes('Holdfast')) printed.push(message)
  })
  return printed
}

it('[OP5] calls are named `toolCallId`; `callId` works too, with one warning per process', async () => {
  const printed = warnings()
  const deciding = await waitAt('remove')
  const { threadId } = deciding
  expect(
    await deciding.holdfast.decide({
      threadId,
      by: 'ana',
      decisions: [{ toolCallId: deciding.first, decision: 'accept' }],
    }),
  ).toEqual([{ kind: 'accepted' }])
  const rest = [{ callId: deciding.second, decision: 'accept' }] as const
  expect(await deciding.holdfast.decide({ threadId, by: 'ana', decisions: rest })).toEqual([
    { kind: 'accepted' },
  ])
  await deciding.holdfast.settled()
  expect(statesOf(await deciding.last())).toEqual(['succeeded', 'succeeded'])

  const answering = await waitAt('ask')
  const outputs = [
    { toolCallId: answering.first, output: { answer: 42 } },
    { toolCallId: answering.second, errorText: 'Nobody is here.' },
  ]
  const added = [{ kind: 'added' }, { kind: 'added' }]
  expect(await answering.holdfast.addToolOutputs(threadId, outputs)).toEqual(added)
  await answering.holdfast.settled()
  expect(statesOf(await answering.last())).toEqual(['succeeded', 'failed'])
  const missing = { threadId, toolCallId: 'nobody', resolution: 'skip', by: 'ana' } as const
  expect(await answering.holdfast.resolve(missing)).toEqual({ kind: 'not-found' })

  for (let time = 0; time < 2; time++) {
    expect(await deciding.holdfast.rename(threadId, 'Named')).toBe(true)
    await deciding.holdfast.decide({ threadId, by: 'ana', decisions: rest })
  }
  // Node gives warnings out when the work at hand is done.
  await new Promise(setImmediate)
  expect(printed.toSorted()).toEqual([
    '`callId` of decide is removed in Holdfast 1.0: use `toolCallId`, as in the AI SDK.',
    '`rename` is removed in Holdfast 1.0: use `threads.update(threadId, { title })`.',
  ])
})
