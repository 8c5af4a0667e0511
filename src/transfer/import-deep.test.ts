import { expect, it } from 'vitest'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import { deepestJson, isDeeperThan } from '../core/json-depth.ts'
import { memory } from '../store/memory/index.ts'
import { exportThread } from './export-threads.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'

const deep = `${'['.repeat(20_000)}1${']'.repeat(20_000)}`
const call = `{"id":"c","name":"count","args":{"a":${deep}},"result":${deep},"status":"completed"}`
const documents = {
  'tool calls of the chat view': `[{"id":"u","role":"user","content":"Hi"},{"id":"a","role":"assistant","content":"Yes.","toolCalls":[${call}]}]`,
  'parts of the AI SDK': `[{"id":"u","role":"user","parts":[{"type":"text","text":"Hi"}],"metadata":${deep}},{"id":"a","role":"assistant","parts":[{"type":"text","text":"Yes."},{"type":"tool-count","toolCallId":"c","state":"output-available","input":${deep},"output":${deep}},{"type":"data-x","data":${deep}}]}]`,
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text
}

it.each(Object.entries(documents))(
  '[CL6a LE5] an import of %s is not too deep',
  async (_, text) => {
    const store = memory()
    const source = readImport(pieces(`{"threads":[{"id":"t","messages":${text}}]}`))
    const report = await importThreads(store, source, {
      ownerId: parseOwnerId('local'),
      trustsOwners: true,
      now: () => 1,
    })
    expect(report).toMatchObject({ threads: 1, messages: 2 })
    expect(JSON.stringify([report.mended, report.failed])).toMatch(/deep/)
    for (const format of ['ui', 'vercel', 'entities', 'chat'] as const) {
      const shown = await Array.fromAsync(exportThread(store, parseThreadId('t'), format))
      expect(shown.length).toBeGreaterThan(0)
      for (const piece of shown) expect(isDeeperThan(piece, deepestJson)).toBe(false)
      expect(JSON.stringify(shown)).toContain('Yes.')
    }
  },
)
