import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { parseMessageId } from '../../core/ids.ts'
import type { UserPart } from '../../core/message.ts'
import type { QueuedInput } from '../../core/queued-input.ts'
import { StringsProvider } from '../strings-context.tsx'
import { QueueList } from './queue-list.tsx'

const text = (words: string): UserPart => ({ type: 'text', text: words })
const input = (id: string, change: Partial<QueuedInput> = {}): QueuedInput => ({
  id: parseMessageId(id),
  mode: 'queue',
  parts: [text(`words of ${id}`)],
  held: false,
  at: 1,
  ...change,
})

const done = () => Promise.resolve()
const draw = (...queue: readonly QueuedInput[]): string =>
  renderToStaticMarkup(
    <QueueList queue={queue} edit={done} move={done} withdraw={done} release={done} />,
  )
/** The rows: the text of each, and its disabled buttons. */
const rowsOf = (html: string): readonly string[] =>
  html
    .split('<li')
    .slice(1)
    .map((row) => {
      const words = /hf-queue-text" dir="auto">([^<]*)/.exec(row)?.[1] ?? ''
      const [, mode = ''] = /hf-queue-mode">([^<]*)/.exec(row) ?? []
      const buttons = [...row.matchAll(/<button[^>]*aria-label="([^"]*)"([^>]*)>/g)]
      const disabled = buttons.filter(([, , rest = '']) => rest.includes('disabled'))
      return [words, mode, ...disabled.map(([, label]) => `no ${label}`)]
        .filter((each) => each !== '')
        .join(' | ')
    })

describe('<QueueList>', () => {
  it('[IN2] renders nothing for an empty queue', () => {
    expect(draw()).toBe('')
  })

  it('[IN2] shows the inputs in order; the first cannot move up, the last cannot move down', () => {
    expect(rowsOf(draw(input('a'), input('b'), input('c')))).toEqual([
      'words of a | no Move up',
      'words of b',
      'words of c | no Move down',
    ])
    expect(rowsOf(draw(input('a')))).toEqual(['words of a | no Move up | no Move down'])
  })

  it('[IN2] shows how many are queued, to screen readers too', () => {
    expect(draw(input('a'))).toContain('<output dir="auto">1 message is queued.</output>')
    expect(draw(input('a'), input('b'))).toContain('2 messages are queued.')
    expect(draw(input('a'))).toContain('aria-label="Queued messages"')
  })

  it('[IN5] shows what a stop held back, with a button that releases it', () => {
    const html = draw(input('a', { held: true }), input('b', { held: true }))
    expect(html).toContain('Stopped. 2 messages were held back.')
    expect(html).toContain('Send now</button>')
    expect(html.match(/data-held="true"/g)).toHaveLength(2)
    expect(draw(input('a'))).not.toContain('Send now')
  })

  it('[IN3] [IN4] shows what an input does to the running turn, if it does not wait for its own', () => {
    const html = draw(input('a', { mode: 'steer' }), input('b', { mode: 'interrupt' }), input('c'))
    expect(rowsOf(html)).toEqual([
      'words of a | joins at the next step | no Move up',
      'words of b | interrupts',
      'words of c | no Move down',
    ])
  })

  it('[FL1] names the files that come with it, and a file without a name as one', () => {
    const file = { type: 'file', url: '/api/files/f', mediaType: 'image/png' } as const
    const named = { ...file, filename: 'cat.png' }
    const html = draw(input('a', { parts: [named, text('Look')] }), input('b', { parts: [file] }))
    expect(rowsOf(html)).toEqual(['Look · cat.png | no Move up', 'File | no Move down'])
  })

  it('[HT5] renders user input as text', () => {
    expect(draw(input('a', { parts: [text('<img src=x onerror=alert(1)>')] }))).not.toContain(
      '<img',
    )
  })

  it('uses the strings of the host application', () => {
    const html = renderToStaticMarkup(
      <StringsProvider strings={{ waitingInputs: (count) => `${count} en attente` }}>
        <QueueList queue={[input('a')]} edit={done} move={done} withdraw={done} release={done} />
      </StringsProvider>,
    )
    expect(html).toContain('1 en attente')
  })
})
