import { appendFileSync } from 'node:fs'
import { tool } from 'ai'
import {
  createHoldfast,
  type Holdfast,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
  type Turn,
} from 'holdfast'
import { type ScriptedCall, type ScriptPart, scriptedModel } from 'holdfast/testing'
import { z } from 'zod'

export const threadId = parseThreadId('thread')
export const ownerId = parseOwnerId('owner')
export const question = 'Look, charge and delete.'
/** A slow machine is no fault of what is tested. */
export const patientLimits = { connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 }

/** What a call did outside of the database: one line each time it really ran. */
const effect = (file: string, name: string) =>
  tool({
    inputSchema: z.object({ n: z.number() }),
    execute: ({ n }, { toolCallId }) => {
      appendFileSync(file, `${name} ${n} ${toolCallId}\n`)
      return { name, n }
    },
  })

/** Whoever takes over asks for more of an answer that was broken off (AG8): this model gives all of it again. */
const isCarryOn = (said: unknown) =>
  JSON.stringify(said).includes('was broken off by a technical fault')

/** Three steps: parallel calls, then one that a person must allow, then the answer. */
function script({ prompt }: ScriptedCall): readonly ScriptPart[] {
  const last = prompt.findLastIndex((said) => said.role === 'user' && !isCarryOn(said))
  const done = prompt.slice(last).filter(({ role }) => role === 'tool').length
  if (!JSON.stringify(prompt[last]).includes(question)) return [{ text: 'Still here.' }]
  if (done === 0) {
    return [
      { text: 'Let me look. ', pieces: 3 },
      // Long enough for the text to be committed by itself.
      { waitMs: 30 },
      { call: 'look', input: { n: 1 }, streamed: true },
      { call: 'charge', input: { n: 2 } },
      { call: 'look', input: { n: 3 } },
    ]
  }
  return done === 1
    ? [{ text: 'One more thing. ' }, { call: 'remove', input: { n: 4 } }]
    : [{ text: 'All done.', pieces: 2 }]
}

export function openScenario(store: Store, effects: string): Holdfast {
  return createHoldfast({
    store,
    model: scriptedModel(script),
    tools: {
      look: effect(effects, 'look'),
      charge: effect(effects, 'charge'),
      remove: effect(effects, 'remove'),
    },
    policies: {
      look: { repeatable: true },
      remove: { approval: 'always' },
    },
    textDelayMs: 1,
    leaseMs: 600,
    recoverEveryMs: 50,
  })
}

export const sendText = (holdfast: Holdfast, text: string, id: string) =>
  holdfast.send({ threadId, message: { id: parseMessageId(id), parts: [{ type: 'text', text }] } })

/** Plays the people: allows what waits, and says of what is unknown that it worked. */
export async function playPeople(holdfast: Holdfast, turn: Turn): Promise<void> {
  for (const step of turn.steps) {
    for (const call of step.parts) {
      if (call.type !== 'call') continue
      const callId = call.id
      if (call.state === 'awaiting-approval') {
        await holdfast.decide({ threadId, by: 'ann', decisions: [{ callId, decision: 'accept' }] })
      }
      if (call.state === 'unknown' && call.resolution === undefined) {
        const result = 'a person looked'
        await holdfast.resolve({ threadId, callId, by: 'ann', resolution: 'done', result })
      }
    }
  }
}
