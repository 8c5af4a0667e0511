import { describe, expect, it } from 'vitest'
import { createProgress } from './progress.ts'
import { createTerminal } from './terminal.ts'

interface Watched {
  readonly out?: boolean
  readonly err?: boolean
}

/** Two streams that record what was written to them; each may be a terminal or not. */
function open({ out = true, err = true }: Watched, env: NodeJS.ProcessEnv = {}, columns = 80) {
  const written = { out: '', err: '' }
  const stream = (name: 'out' | 'err', isTTY: boolean) =>
    ({
      isTTY,
      columns,
      write: (text: string) => void (written[name] += text),
    }) as unknown as NodeJS.WriteStream
  return { written, terminal: createTerminal(stream('out', out), stream('err', err), env) }
}

const red = '\u001B[31m'
const clear = '\r\u001B[K'

describe('a terminal', () => {
  it('has colours on a terminal', () => {
    const { terminal, written } = open({})
    terminal.print(`${terminal.paint('red', 'failed')} here`)
    expect(written.out).toBe(`${red}failed\u001B[0m here\n`)
  })

  it.each([{ NO_COLOR: '1' }, { NO_COLOR: 'false' }, { TERM: 'dumb' }])(
    'has none where %o asks for none',
    (env) => {
      const { terminal, written } = open({}, env)
      terminal.print(terminal.paint('red', 'failed'))
      terminal.note(terminal.paint('red', 'failed'))
      expect(written).toEqual({ out: 'failed\n', err: 'failed\n' })
    },
  )

  it('treats an empty NO_COLOR as unset', () => {
    const { terminal } = open({}, { NO_COLOR: '' })
    expect(terminal.paint('red', 'x')).toContain(red)
  })

  it('puts no colours into a file that its output goes into', () => {
    const { terminal, written } = open({ out: false })
    terminal.print(terminal.paint('red', 'failed'))
    terminal.note(terminal.paint('red', 'failed'))
    expect(written.out).toBe('failed\n')
    expect(written.err).toContain(red)
  })
})

describe('progress', () => {
  it('is a bar that is drawn over, and gone when a line comes or all is done', () => {
    const { terminal, written } = open({}, { NO_COLOR: '1' }, 60)
    let now = 0
    const progress = createProgress(terminal, () => now)
    progress.update(0, () => 'too soon')
    now = 100
    progress.update(0.5, () => '5 messages')
    const half = `${'█'.repeat(5)}${'░'.repeat(5)}  50 % 5 messages`
    expect(written.err).toBe(half)
    now = 150
    progress.update(0.6, () => 'too soon after that')
    now = 200
    progress.update(1, () => '10 messages')
    const whole = `${'█'.repeat(10)} 100 % 10 messages`
    expect(written.err).toBe(`${half}${clear}${whole}`)
    terminal.print('mended one')
    expect(written).toEqual({ out: 'mended one\n', err: `${half}${clear}${whole}${clear}` })
    progress.done()
    expect(written.err).toBe(`${half}${clear}${whole}${clear}`)
  })

  it('never draws past the edge, and draws no bar where the end is not known', () => {
    const { terminal, written } = open({}, { NO_COLOR: '1' }, 40)
    const progress = createProgress(terminal, () => 0)
    let now = 1_000
    createProgress(terminal, () => (now += 1_000)).update(undefined, () => 'x'.repeat(100))
    expect(written.err).toMatch(/^x+$/)
    createProgress(terminal, () => (now += 1_000)).update(0.3, () => 'y'.repeat(100))
    expect(written.err.split(clear).every((line) => line.length < 40)).toBe(true)
    progress.done()
    expect(written.err.endsWith(clear)).toBe(true)
  })

  it('is an occasional line without a terminal', () => {
    const { terminal, written } = open({ err: false })
    let now = 0
    const progress = createProgress(terminal, () => now)
    for (now = 0; now <= 12_000; now += 1_000) {
      progress.update(now / 20_000, () => `${now} messages`)
    }
    progress.done()
    expect(written.err).toBe(' 25 % 5000 messages\n 50 % 10000 messages\n')
  })
})
