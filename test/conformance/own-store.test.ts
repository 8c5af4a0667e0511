import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from 'holdfast'
import { createHoldfast } from 'holdfast'
import { scriptedModel, storeRules } from 'holdfast/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { jsonFileStore } from '../../examples/own-store/json-file-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-own-store-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0
const newFile = () => join(folder, `store-${count++}.json`)

describe('examples/own-store', () => {
  it.each(storeRules)('[$id] $claim, in a JSON file', async ({ check }) => {
    let time = 1_770_000_000_000
    const clock = { now: () => time, advance: (ms: number) => void (time += ms) }
    const files = new Map<Store, string>()
    const openFile = (file: string) => {
      const store = jsonFileStore(file, { now: clock.now, flush: false })
      files.set(store, file)
      return store
    }
    await check({
      clock,
      open: async () => openFile(newFile()),
      async reopen(store) {
        await store.close()
        return openFile(files.get(store) ?? '')
      },
    })
  })

  it('[OP5f] answers, and shows it after it was opened again', async () => {
    const file = newFile()
    const model = scriptedModel(() => [{ text: 'Hello.' }])
    const first = createHoldfast({ store: jsonFileStore(file), model })
    await first.send({
      threadId: 't1',
      message: { id: 'u1', parts: [{ type: 'text', text: 'Hi' }] },
      create: { ownerId: 'ana', title: '' },
    })
    await first.settled()
    await first.close()
    const again = createHoldfast({ store: jsonFileStore(file), model })
    const page = await again.messages('t1', { format: 'chat', ownerId: 'ana' })
    expect(page?.results.map(({ content }) => content)).toEqual(['Hello.', 'Hi'])
    await again.close()
  })
})
