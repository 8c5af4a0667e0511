import { describe, expect, it } from 'vitest'
import { createHoldfast, memory } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { createDemoTools, demoModel } from 'holdfast/demo'
import { readFiles, readProjectFile } from '../support/read-files.ts'

const page = readProjectFile('docs/protocol.md')

interface Example {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
  readonly status: number
  readonly answer: string
}

function parseExamples(markdown: string): readonly Example[] {
  return [...markdown.matchAll(/```http\n([\s\S]*?)```/g)].map(([, block = '']) => {
    const [asked = '', answered = ''] = block.trim().split('\n\n')
    const [line = '', body] = asked.split('\n')
    const [method = '', path = ''] = line.split(' ')
    const [status = '', answer = ''] = answered.split('\n')
    return { method, path, body, status: Number(status), answer }
  })
}

/** The same, with whatever the page leaves open put in from what came. */
function fillIn(shown: unknown, came: unknown): unknown {
  if (shown === '…') return came
  if (Array.isArray(shown)) {
    return shown.map((item, index) => fillIn(item, (came as unknown[])[index]))
  }
  if (typeof shown !== 'object' || shown === null) return shown
  return Object.fromEntries(
    Object.entries(shown).map(([key, value]) => [
      key,
      fillIn(value, (came as Record<string, unknown> | undefined)?.[key]),
    ]),
  )
}

describe('docs/protocol.md', () => {
  it('[HT1] shows examples that a server answers as it says', async () => {
    const model = demoModel({ delayMs: 0 })
    const holdfast = createHoldfast({ store: memory(), model, ...createDemoTools() })
    const handler = createHandler(holdfast, { localOnly: true })
    const examples = parseExamples(page)
    expect(examples.length).toBeGreaterThan(6)
    for (const { method, path, body, status, answer } of examples) {
      const response = await handler(
        new Request(`http://127.0.0.1${path}`, {
          method,
          ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
        }),
      )
      const text = await response.text()
      expect(response.status, `${method} ${path}`).toBe(status)
      if (answer === 'text/event-stream') {
        expect(response.headers.get('content-type')).toBe(answer)
        continue
      }
      const came: unknown = JSON.parse(text)
      expect(came, `${method} ${path}`).toEqual(fillIn(JSON.parse(answer), came))
    }
    await holdfast.close()
  })

  it('[HT1] names every route, every error code and every type of event', () => {
    const sources = [...readFiles('src/server/**/*.ts').values()].join('\n')
    const routes = [...sources.matchAll(/path: '([^']+)'/g)].map(([, path = '']) => path)
    expect(routes.length).toBeGreaterThan(15)
    expect(routes.filter((route) => !page.includes(route))).toEqual([])
    const thrown = sources.matchAll(
      /(?:new ApiError|super)\(\s*\d+,\s*'([a-z-]+)'|fault\(\s*\d+,\s*'([a-z-]+)'/g,
    )
    const codes = [...thrown].map(([, one, other]) => one ?? other ?? '')
    expect(codes.length).toBeGreaterThan(10)
    expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([])
    const events = readProjectFile('src/core/event.ts')
    const types = [...events.matchAll(/type: '([a-z-]+)'/g)].map(([, type = '']) => type)
    expect(types.filter((type) => !page.includes(`| \`${type}\` |`))).toEqual([])
  })
})
