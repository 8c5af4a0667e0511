import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkStore, createHoldfast, type Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../support/create-database.ts'
import { programArguments } from '../support/programs.ts'

interface TestDatabase {
  readonly database: string
  readonly open: () => Store
  readonly drop: () => Promise<void>
}

async function createTestDatabase(kind: 'sqlite' | 'postgres'): Promise<TestDatabase> {
  if (kind === 'postgres') {
    const made = await createDatabase(inject('postgresUrl'))
    return { database: made.url, open: () => postgres(made.url), drop: () => made.drop() }
  }
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-titles-'))
  const database = join(folder, 'chat.db')
  const drop = async () => rmSync(folder, { recursive: true })
  return { database, open: () => sqlite(database), drop }
}

/** By which signal it ended. */
function runProcess(database: string, when: string): Promise<string | null> {
  const args = [...programArguments('test/crash/title-process.ts'), database, when]
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error) =>
      resolve((error as { signal?: string } | null)?.signal ?? null),
    )
  })
}

describe.each(['sqlite', 'postgres'] as const)('killed between answer and title on %s', (kind) => {
  it.each(['asked', 'before', 'after'])(
    '[FK3] killed at “%s”, it loses at most the title, and the next answer makes one',
    async (when) => {
      const setup = await createTestDatabase(kind)
      expect(await runProcess(setup.database, when)).toBe('SIGKILL')
      const store = setup.open()
      const before = await store.readThread('thread')
      expect([before?.title, before?.titledBy]).toEqual(
        when === 'after' ? ['Greetings', 'model'] : ['Hello', null],
      )
      let asked = 0
      const holdfast = createHoldfast({
        store,
        model: scriptedModel(() => [{ text: 'Again.' }]),
        title: { model: scriptedModel(() => [{ text: 'Greetings' }], { onCall: () => asked++ }) },
      })
      const answered = await holdfast.messages('thread')
      expect(answered?.results.map(({ role }) => role)).toEqual(['assistant', 'user'])
      const message = { id: 'u2', parts: [{ type: 'text', text: 'Hello?' }] as const }
      await holdfast.send({ threadId: 'thread', message })
      await holdfast.settled()
      await expect.poll(async () => (await store.readThread('thread'))?.titledBy).toBe('model')
      await holdfast.close()
      expect(asked).toBe(when === 'after' ? 0 : 1)
      if (store.audit !== undefined) {
        expect((await checkStore(store)).found).toBe(0)
      }
      await store.close()
      await setup.drop()
    },
  )
})
