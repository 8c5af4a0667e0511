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
  // Exported by no entry point, yet whoever calls `sendMessages` depends on it.
  expect(client).toMatch(/## Not exported[^]*\ninterface SendOptions extends RequestOptions \{/)
  expect(client).not.toContain(tmpdir())
})
