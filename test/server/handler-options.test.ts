import { createHoldfast, HoldfastError, memory } from 'holdfast'
import { createHandler, listen, toNodeListener } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import type { OptionRule } from '../../src/core/check-options.ts'
import {
  handlerRules,
  limitRules,
  listenRules,
  nodeListenerRules,
} from '../../src/server/option-rules.ts'
import { readProjectFile } from '../support/read-files.ts'

const holdfast = createHoldfast({
  store: memory(),
  model: scriptedModel(() => []),
  recoverEveryMs: 0,
})
const handler = createHandler(holdfast)

async function faultOf(work: () => unknown): Promise<string> {
  try {
    await work()
  } catch (error) {
    if (error instanceof HoldfastError) return `${error.code}: ${error.message}`
    return `another error: ${String(error)}`
  }
  return 'no error'
}

const wrong: readonly unknown[] = [0, -1, NaN, Infinity, 1.5, '5', '', null, {}, [''], ['*'], 10n]

type Table = Readonly<Record<string, OptionRule>>

const doors: readonly (readonly [string, Table, (change: object) => unknown])[] = [
  ['createHandler', handlerRules, (change) => createHandler(holdfast, change)],
  ['createHandler, limits', limitRules, (change) => createHandler(holdfast, { limits: change })],
  ['listen', listenRules, (change) => listen(handler, { port: 0, host: '127.0.0.1', ...change })],
  ['toNodeListener', nodeListenerRules, (change) => toNodeListener(handler, change)],
]

describe.each(doors)('%s', (where, table, open) => {
  it.each(Object.keys(table))('[CF1] says which value of "%s" is wrong', async (name) => {
    const { range, fits } = table[name] as OptionRule
    const bad = wrong.filter((value) => !fits(value))
    expect(bad.length).toBeGreaterThan(5)
    for (const value of bad) {
      expect(await faultOf(() => open({ [name]: value }))).toContain(
        `bad-option: ${where}: the option "${name}" must be ${range}, not `,
      )
    }
  })

  it('[CF1] refuses a name that it does not know', async () => {
    const names = Object.keys(table).join(', ')
    expect(await faultOf(() => open({ nonsenseXyz: 1 }))).toContain(
      `${where} has no option "nonsenseXyz". Its options are ${names}.`,
    )
  })
})

describe('the options of a handler', () => {
  it.each([
    [{ autenticate: () => null }, 'authenticate'],
    [{ auth: () => null }, 'authenticate'],
    [{ allowedOrigin: [] }, 'allowedOrigins'],
    [{ cors: true }, 'allowedOrigins'],
    [{ trustproxy: true }, 'trustProxy'],
  ])('[CF1] %o is refused with the name that was meant', async (options, meant) => {
    const fault = await faultOf(() => createHandler(holdfast, options as object))
    expect(fault).toContain(`Did you mean "${meant}"?`)
  })

  it.each(['*', 'null', 'app.example', 'https://*.app.example', 'https://app.example/path', ''])(
    '[CF1] has no origin %j',
    async (origin) => {
      const fault = await faultOf(() => createHandler(holdfast, { allowedOrigins: [origin] }))
      expect(fault).toContain('"allowedOrigins" must be a list of origins')
    },
  )

  it.each([
    [['*'], 'not a list in which allowedOrigins[0] is "*".'],
    [['https://app.example', 7], 'not a list in which allowedOrigins[1] is 7.'],
    ['https://app.example', 'not "https://app.example".'],
  ])('[CF1] names the entry of allowedOrigins that is none: %j', async (allowedOrigins, end) => {
    expect(await faultOf(() => createHandler(holdfast, { allowedOrigins } as object))).toBe(
      `bad-option: createHandler: the option "allowedOrigins" must be a list of origins such as "https://app.example", without wildcards, ${end}`,
    )
  })

  it.each([
    ['https://App.Example/', 'https://app.example'],
    ['https://app.example:443', 'https://app.example'],
    ['capacitor://localhost', 'capacitor://localhost'],
  ])('[HT4] takes the origin %s, and means %s', async (given, origin) => {
    const open = createHandler(holdfast, { authenticate: () => null, allowedOrigins: [given] })
    const asked = new Request('http://api.example/api/health', { headers: { origin } })
    const response = await open(asked)
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
  })

  it('[HT1] an id that is none, from `authenticate`, is the server’s fault and is logged', async () => {
    for (const id of ['', 5, undefined, 'x'.repeat(201)]) {
      const logged: unknown[] = []
      const open = createHandler(holdfast, {
        authenticate: () => ({ id }) as never,
        log: ({ error }) => logged.push(error),
      })
      expect((await open(new Request('http://chat.example/api/threads'))).status).toBe(500)
      expect(String(logged[0])).toContain('`authenticate`')
    }
    const nobody = createHandler(holdfast, { authenticate: () => undefined as never })
    const refused = await nobody(new Request('http://chat.example/api/threads'))
    expect(refused.status).toBe(401)
    expect(await refused.json()).toEqual({
      error: {
        code: 'not-authenticated',
        message: 'Not signed in: `authenticate` found no user in this request.',
      },
    })
  })

  it('[CF1] are in the guide, each with its default and its range', () => {
    const guide = readProjectFile('docs/guides/server.md')
    for (const [where, table] of doors) {
      const section = guide.split(`\n### ${where}\n`)[1]?.split('\n#')[0] ?? ''
      const told = [...section.matchAll(/^\| `(\w+)` \| (.*?) \| (.*?) \|/gm)].map((row) =>
        row.slice(1),
      )
      const checked = Object.entries(table).map(([name, rule]) => [
        name,
        rule.default ?? 'required',
        rule.range,
      ])
      expect(told).toEqual(checked)
    }
  })
})
