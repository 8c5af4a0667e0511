import { createHoldfast, memory } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { expect, it, onTestFinished } from 'vitest'
import { readProjectFile } from './support/read-files.ts'

it('[CF3] every metric that the guide of operations tells people to watch is there, and none is left out', async () => {
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const handler = createHandler(holdfast, { localOnly: true })
  const text = await (await handler(new Request('http://localhost/metrics'))).text()
  const there = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name))
  const guide = readProjectFile('docs/guides/operations.md')
  const named = [...guide.matchAll(/\bholdfast_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''))
  expect(new Set(named)).toEqual(there)
})

it('[CF3] the rules of the threat model are rules of the specification', () => {
  const spec = readProjectFile('docs/spec.md')
  const rules = [...readProjectFile('SECURITY.md').matchAll(/\b[A-Z]{2}\d+[a-z]?\b/g)]
  expect(rules.length).toBeGreaterThan(10)
  for (const [id] of rules) expect(spec).toContain(`\n- ${id} `)
})
