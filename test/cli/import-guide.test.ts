import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importThreads, memory, parseOwnerId, readImport } from 'holdfast'
import { expect, it } from 'vitest'
import { runHoldfast, temporaryFolder } from './run-holdfast.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/import.md'), 'utf8')
const blocks = [...guide.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
  ([, language, name, text]) => ({ language, name, text: text ?? '' }),
)

/** A file is a block with a name, and a console shows what is typed after a "$". */
it('[LE5] the guide shows what the commands say', async () => {
  const files = blocks.flatMap(({ name, text }) => (name === undefined ? [] : [[name, text]]))
  const folder = temporaryFolder(Object.fromEntries(files) as Record<string, string>)
  let commands = 0
  for (const { text } of blocks.filter(({ language }) => language === 'console')) {
    for (const session of text.split(/^\$ holdfast /m).slice(1)) {
      const [line = '', ...said] = session.split('\n')
      const { out } = await runHoldfast(line.split(' '), { folder })
      expect(`${line}\n${out}`).toBe(`${line}\n${said.join('\n')}`)
      commands++
    }
  }
  expect(commands).toBe(3)
})

it('[LE5] the library gives the report that the guide writes down', async () => {
  const [page] = blocks.filter(({ name }) => name === 'rows.json')
  async function* bytes() {
    yield page?.text ?? ''
  }
  const report = await importThreads(memory(), readImport(bytes()), {
    ownerId: parseOwnerId('ana'),
    dryRun: { scratch: memory() },
  })
  const [sample] = blocks.filter(({ text }) => text.includes('importThreads('))
  const fields = [...(sample?.text.matchAll(/\b(\w+)(?=[,:] |, *$|\})/gm) ?? [])].map(
    ([, name]) => name,
  )
  for (const name of Object.keys(report)) if (name !== 'dryRun') expect(fields).toContain(name)
  expect(report.callsByState).toEqual({ denied: 1 })
})
