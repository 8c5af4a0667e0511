import { createRequire } from 'node:module'
import * as ai7 from 'ai'
import { expect, it } from 'vitest'
import { messagesOf } from '../../test/support/messages-of.ts'
import { randomLedger } from '../testing/random-ledger.ts'
import { projectUiMessage, type UiMessage } from './ui-message.ts'
import type { SdkVersion } from './ui-vocabulary.ts'

interface Sdk {
  validateUIMessages(options: { messages: unknown }): Promise<readonly UiMessage[]>
}
const require = createRequire(import.meta.url)
const sdks: Readonly<Record<SdkVersion, Sdk>> = {
  5: require('ai5') as Sdk,
  6: require('ai6') as Sdk,
  7: ai7 as unknown as Sdk,
}

const isTool = ({ type }: { readonly type: string }) =>
  type === 'dynamic-tool' || type.startsWith('tool-')
const withoutNames = (message: UiMessage) => ({
  ...message,
  parts: message.parts.map((part) => {
    if (!part.type.startsWith('tool-')) return part
    const { toolName: _, ...rest } = part as { readonly toolName?: string }
    return rest
  }),
})
const roundTrip = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

it.each([5, 6, 7] as const)(
  '[FD1] tool parts with their name are accepted by AI SDK %i, and it drops the name',
  async (sdk) => {
    let tools = 0
    for (let seed = 8_000; seed < 8_030; seed++) {
      for (const message of messagesOf(randomLedger(seed))) {
        const named = projectUiMessage(message, { sdk, toolNames: 'include' })
        const plain = projectUiMessage(message, { sdk })
        expect(projectUiMessage(message, { sdk, toolNames: 'omit' })).toEqual(plain)
        if (named === null || plain === null) {
          expect([named, plain]).toEqual([null, null])
          continue
        }
        expect(withoutNames(named)).toEqual(withoutNames(plain))
        const names = named.parts.filter(isTool).map((part) => [part.type, 'toolName' in part])
        expect(names.every(([, hasName]) => hasName)).toBe(true)
        for (const part of named.parts) {
          if (part.type.startsWith('tool-'))
            expect(part).toHaveProperty('toolName', part.type.slice(5))
        }
        tools += names.length
        if (named.parts.some(({ type }) => type.startsWith('data-'))) continue
        // A call that was approved and has not ended has a state that the SDK builds and does not validate.
        if (message.role === 'assistant' && message.progress.status !== 'ended') continue
        const taken = await sdks[sdk].validateUIMessages({ messages: [roundTrip(named)] })
        expect(taken).toEqual(await sdks[sdk].validateUIMessages({ messages: [roundTrip(plain)] }))
      }
    }
    expect(tools).toBeGreaterThan(50)
  },
)
