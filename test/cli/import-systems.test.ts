import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { oldSystems } from '../support/old-systems.ts'
import { type DatabaseKind, databases } from './databases.ts'
import { runHoldfast, temporaryFolder } from './run-holdfast.ts'
import { runInProcess } from './run-in-process.ts'

const kinds = Object.keys(databases) as readonly DatabaseKind[]
const words: Readonly<Record<string, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  denied: 'denied (refused)',
  stopped: 'stopped',
  interrupted: 'interrupted (never finished)',
}
const lineOf = (callsByState: Readonly<Record<string, number>>) =>
  `Calls: ${Object.keys(words)
    .filter((state) => state in callsByState)
    .map((state) => `${callsByState[state]} ${words[state]}`)
    .join(', ')}.`

describe.each(Object.entries(oldSystems))('the export of a team: %s', (_, system) => {
  it.each(kinds)('[LE5 LE6 LE8] is read to the letter, twice as once, on %s', async (kind) => {
    const database = await databases[kind]()
    const folder = temporaryFolder({ 'old.json': system.text })
    const into = [join(folder, 'old.json'), '--db', database.place, '--thread', 'moved']
    const dry = await runInProcess(['import', ...into, '--dry-run'])
    expect(dry).toMatchObject({ code: 0, err: '' })
    const [calls, last] = dry.out.trimEnd().split('\n').slice(-2)
    expect([calls, last]).toEqual([
      lineOf(system.callsByState),
      'This was a dry run: nothing was written.',
    ])
    const real = await runInProcess(['import', ...into])
    expect(dry.out).toBe(`${real.out}This was a dry run: nothing was written.\n`)
    expect(real.out).toContain(`Read 1 thread, ${system.messages} messages`)
    const chat = ['export', '--all', '--format', 'chat', '--db', database.place]
    const exported = (await runInProcess(chat)).out
    const { threads } = JSON.parse(exported) as {
      readonly threads: readonly {
        readonly messages: readonly { content: string; toolCalls: readonly { state: string }[] }[]
      }[]
    }
    expect(threads).toHaveLength(1)
    const messages = threads[0]?.messages ?? []
    expect(messages.map(({ content }) => content)).toEqual(system.contents)
    const states = messages.flatMap(({ toolCalls }) => toolCalls.map(({ state }) => state))
    expect(Object.fromEntries(Map.groupBy(states, (state) => state))).toMatchObject(
      Object.fromEntries(
        Object.entries(system.callsByState).map(([state, count]) => [state, { length: count }]),
      ),
    )
    const again = await runInProcess(['import', ...into])
    expect(again.out).toContain(`${system.messages} messages were here already`)
    expect((await runInProcess(chat)).out).toBe(exported)
    expect((await runInProcess(['check', '--db', database.place])).out).toMatch(/^Healthy/)
  })
})

describe('a dry run', () => {
  it('[LE5] makes no database, and leaves nothing behind', async () => {
    const [folder, temporary] = [temporaryFolder(), temporaryFolder()]
    const [system] = Object.values(oldSystems)
    const { code } = await runHoldfast(['import', '-', '--dry-run', '--thread', 't'], {
      ...{ folder, input: system?.text ?? '', env: { TMPDIR: temporary } },
    })
    expect(code).toBe(0)
    expect(existsSync(join(folder, 'holdfast.db'))).toBe(false)
    expect([readdirSync(folder), readdirSync(temporary)]).toEqual([[], []])
  })

  it('[LE5] does not migrate a database of an older version', async () => {
    const database = await databases.sqlite()
    const [first] = Object.values(oldSystems)
    await runInProcess(['import', '-', '--db', database.place, '--thread', 't'], first?.text ?? '')
    await database.damage(`DROP INDEX messages_hidden;
      DROP INDEX threads_by_archive;
      DROP INDEX threads_pinned;
      ALTER TABLE threads DROP COLUMN pinned;
      ALTER TABLE threads DROP COLUMN archived;
      ALTER TABLE threads DROP COLUMN title_note;
      DROP TABLE inputs;
      DROP TABLE shares;
      DROP TABLE share_messages;
      DROP TABLE search_threads;
      DROP TABLE search_owners;
      DROP TABLE search_texts;
      DROP TABLE search_words;
      DROP TABLE files;
      DROP TABLE file_uses;
      ALTER TABLE messages DROP COLUMN parent_seq;
      ALTER TABLE messages DROP COLUMN versions;
      ALTER TABLE threads DROP COLUMN forked_from;
      ALTER TABLE threads DROP COLUMN queue;
      ALTER TABLE threads DROP COLUMN metadata;
      ALTER TABLE threads DROP COLUMN incarnation;
      ALTER TABLE threads DROP COLUMN mark;
      ALTER TABLE messages DROP COLUMN mark;
      ALTER TABLE events DROP COLUMN mark;
      DROP TABLE additive_migrations;
      PRAGMA user_version = 3`)
    const before = await database.query('PRAGMA user_version')
    const { code, err } = await runHoldfast(['import', '-', '--dry-run', '--db', database.place], {
      input: '[{"role":"user","content":"Hi"}]',
    })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(await database.query('PRAGMA user_version')).toEqual(before)
  })
})

describe('pages, one import each', () => {
  it.each(kinds)('[LE8] on %s: rewrites are healthy, and nothing is lost', async (kind) => {
    const database = await databases[kind]()
    const system = oldSystems['A, rows of a table']
    for (const page of system?.text.split('\n').slice(0, 6) ?? []) {
      const { code } = await runInProcess(
        ['import', '-', '--db', database.place, '--thread', 't'],
        page,
      )
      expect(code).toBe(0)
    }
    const { out } = await runInProcess(['export', 't', '--format', 'chat', '--db', database.place])
    const { threads } = JSON.parse(out) as {
      readonly threads: readonly { readonly messages: readonly { readonly content: string }[] }[]
    }
    const said = threads[0]?.messages.map(({ content }) => content) ?? []
    expect(said.length).toBeGreaterThan(100)
    expect(said).toEqual(system?.contents.slice(-said.length))
    expect((await runInProcess(['check', '--db', database.place])).out).toMatch(/^Healthy/)
  })
})
