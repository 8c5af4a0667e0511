import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeApi } from '../scripts/describe-api.ts'

const folder = join(import.meta.dirname, '../api-report')
const written = new Map(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
)
const described = describeApi()

it.each([...new Set([...written.keys(), ...described.keys()])])(
  'api-report/%s says what the package exports (npm run api-report writes it)',
  (name) => {
    expect(described.get(name)).toBe(written.get(name))
  },
)

it('describes every entry point, what it exports and what that is made of', () => {
  expect(described.size).toBeGreaterThan(5)
  const client = described.get('holdfast-client.md')
  expect(client).toContain('function createApi(options?: ApiOptions): Api;')
  expect(client).toMatch(/\ninterface SendOptions extends RequestOptions \{/)
  expect(client).not.toContain(tmpdir())
})

/** By which ids of different things, and tools of different contexts, are told apart: nobody has to name them. */
const unnamed = ['brand', 'Branded', 'contextType']

it.each([...described])('[OP5] every type in a signature of %s can be imported', (_, page) => {
  const [, left = ''] = page.split('## Not exported')
  const names = [...left.matchAll(/^(?:interface|type|const|class|function) (\w+)/gm)]
  expect(names.map(([, name]) => name).filter((name) => !unnamed.includes(name ?? ''))).toEqual([])
})

it('[OP5] a component has its name for itself', () => {
  const declared = [...described].filter(([, page]) =>
    /^(?:export )?(?:interface|type|function) Thread\b/m.test(page),
  )
  expect(declared.map(([name]) => name)).toEqual(['holdfast-widgets.md'])
})
