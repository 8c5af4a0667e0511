import { expect, it } from 'vitest'
import { parseMessageId, parseOwnerId, parseThreadId } from '../core/ids.ts'
import { memory } from '../store/memory/index.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'

const given = (by: string) => ({ by, rating: 'up', at: '2026-01-01T00:00:00.000Z' })
const answer = (id: string, version?: object) => ({
  ...{ id, role: 'assistant', parts: [{ type: 'text', text: 'Here.' }], ...version },
  metadata: { feedback: [given('ana'), given('bob')] },
})
async function* text() {
  yield JSON.stringify({
    id: 't',
    owner: 'ana',
    messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'Where?' }] }, answer('a')],
    hiddenMessages: [answer('b', { version: 'b', follows: 'u', nth: 0, hiddenSeq: 3 })],
  })
}

async function load(trustsOwners: boolean) {
  const store = memory()
  const ownerId = parseOwnerId(trustsOwners ? 'admin' : 'ana')
  const report = await importThreads(store, readImport(text()), { ownerId, trustsOwners })
  const raters = async (id: string) => {
    const message = await store.readMessage(parseThreadId('t'), parseMessageId(id))
    return message?.role === 'assistant' ? message.feedback?.map(({ by }) => by) : undefined
  }
  return { report, raters: [await raters('a'), await raters('b')] }
}

it('[FK4] an import of a person brings their own feedback, and reports that of others as left out', async () => {
  const { report, raters } = await load(false)
  expect(raters).toEqual([['ana'], ['ana']])
  const what = 'Feedback in the name of another person was left out.'
  expect(report.mended).toEqual([
    expect.objectContaining({ what }),
    expect.objectContaining({ what }),
  ])
})

it('[FK4] an import from a source that is trusted brings the feedback of everybody', async () => {
  const { report, raters } = await load(true)
  expect(raters).toEqual([
    ['ana', 'bob'],
    ['ana', 'bob'],
  ])
  expect(report.mended).toEqual([])
})
