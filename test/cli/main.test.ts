import { describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { holdfastRules } from '../../src/engine/options/option-rules.ts'
import { handlerRules } from '../../src/server/option-rules.ts'
import { runHoldfast, temporaryFolder } from './run-holdfast.ts'

describe('holdfast', () => {
  it('says what there is, and its version', async () => {
    const help = await runHoldfast(['--help'])
    expect(help.code).toBe(0)
    for (const name of ['serve', 'import', 'export', 'check'])
      expect(help.out).toContain(`holdfast ${name}`)
    expect(await runHoldfast(['--version'])).toEqual({
      code: 0,
      out: `${packageJson.version}\n`,
      err: '',
    })
    const bare = await runHoldfast([])
    expect(bare).toMatchObject({ code: 2, out: '' })
    expect(bare.err).toContain('holdfast COMMAND --help')
  })

  it.each(['serve', 'import', 'export', 'check'])('%s --help says what it takes', async (name) => {
    const { code, out } = await runHoldfast([name, '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`holdfast ${name}`)
    expect(out).toContain('--db')
    expect(out).toContain('Exit code')
  })

  it('serve --help names the options of a config file as they are', async () => {
    const { out } = await runHoldfast(['serve', '--help'])
    const [, listed = ''] = /--config +a file whose default export has ([^\n]*)/.exec(out) ?? []
    const names = listed.split(/, | and /)
    expect(names).toContain('authenticate')
    const known = [...Object.keys(holdfastRules), ...Object.keys(handlerRules), 'others']
    expect(names.filter((name) => !known.includes(name))).toEqual([])
  })

  it('export ends without a word when whoever reads it has enough', async () => {
    const folder = temporaryFolder()
    const text = 'x'.repeat(1_000)
    const messages = Array.from({ length: 2_000 }, (_, index) => ({
      id: `u${index}`,
      role: 'user',
      content: text,
    }))
    await runHoldfast(['import', '-'], { folder, input: JSON.stringify(messages) })
    const { code, out, err } = await runHoldfast(['export', '--all'], { folder, reads: 10_000 })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('{"threads":[')
  })

  it.each([
    [
      ['chekc'],
      'There is no command "chekc". Did you mean "check"? Run `holdfast --help` for a list.',
    ],
    [['check', '--fix'], 'Run `holdfast check --help` for its options.'],
    [['import'], 'Name one file to import'],
    [['import', 'none.json'], 'There is no file none.json. Check the name.'],
    [['import', 'x.json', '--format', 'xml'], '--format is one of auto, ui,'],
    [['export'], 'Name one thread, or pass --all'],
    [['export', '--all', '--db', 'mysql://x/y'], '--db is a file or a postgres:// URL.'],
  ])('%j: says what to do instead, and exits with 2', async (args, what) => {
    const { code, out, err } = await runHoldfast(args, { folder: temporaryFolder() })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(what)
    expect(err).not.toContain('    at ')
  })
})
