import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { demoSource } from './demo-data.ts'
import type { DemoResult } from './demo-prompt.ts'

/** The model's answer about the results of its tools. */
export function reportResults(results: readonly DemoResult[]): string {
  const numbered = results.filter(({ name, outcome }) => name === 'numbered_tool' && outcome.ok)
  const others = results.filter((result) => !numbered.includes(result))
  const lines = others.filter(isWorthALine).map(reportResult)
  if (numbered.length > 0) {
    lines.push(numbered.length === 1 ? 'One tool answered.' : `${numbered.length} tools answered.`)
  }
  return lines.join('\n\n')
}

/** A search whose notes were read is not reported, because the notes are. */
const isWorthALine = (result: DemoResult, _: number, all: readonly DemoResult[]): boolean =>
  result.name !== 'search_notes' || !all.some(({ name }) => name === 'read_note')

function reportResult({ name, input, outcome }: DemoResult): string {
  if (!outcome.ok) return reportFailure(name, isJsonObject(input) ? input : {}, outcome.error)
  const value = isJsonObject(outcome.value) ? outcome.value : {}
  const args = isJsonObject(input) ? input : {}
  // A person who marks a call as succeeded may leave out its result.
  const field = (key: string): string => show(value[key] ?? args[key])
  switch (name) {
    case 'get_weather':
      return `It is ${field('temperatureC')} °C and ${field('condition').toLowerCase()} in ${field('city')} (${sourceOf(value)}).`
    case 'get_time':
      return `It is ${field('localTime')} in ${field('city')} (${field('timeZone')}).`
    case 'get_stock':
      return `${field('ticker')} stands at ${field('price')} ${field('currency')}, ${field('changePercent')} % on the day (demo data).`
    case 'get_afl_code':
      return `Here is AFL code for ${field('subject')}:\n\n\`\`\`afl\n${field('code')}\n\`\`\``
    case 'search_notes':
      return `There is nothing about “${field('query')}” in your notes.`
    case 'read_note':
      return `Your note “${field('title')}” says: ${field('text')}`
    case 'write_note':
      return `I wrote the note “${field('title')}”. It is with your other notes.`
    case 'delete_note':
      return `I deleted the note “${field('title')}”.`
    case 'charge_card':
      return `I charged ${field('amount')} ${field('currency')} to the demo card.`
    case 'slow_tool':
      return `The slow tool took ${field('seconds')} seconds.`
    default:
      return `\`${name}\` gave: ${JSON.stringify(outcome.value)}`
  }
}

function reportFailure(name: string, input: JsonObject, error: string): string {
  const [, feedback] = /The user said: (.+)$/s.exec(error) ?? []
  const what = typeof input.title === 'string' ? `the note “${input.title}”` : `\`${name}\``
  if (error.startsWith('The user declined')) {
    const reason = feedback === undefined ? '' : ` You said: ${feedback}`
    return `You declined, so I left ${what} alone.${reason}`
  }
  return `I have no result for ${what}: ${error}`
}

/** A host application may have replaced the demo's tool by one with real data. */
const sourceOf = ({ source }: JsonObject): string =>
  typeof source === 'string' && source !== demoSource ? source : 'demo data'

const show = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null)

export const talk = (text: string, messages: number): string =>
  [
    `You said: “${text}”. That was message ${messages} of this conversation.`,
    'I am a demo model without a network. Ask me for the **weather in Paris**, the **time in Tokyo and weather there**,',
    'a **stock ACME**, **AFL code for a moving average**, to **search my notes for milk**, to **delete note Travel**,',
    'to **write a note about tea**, to **call 5 tools**, or to **write a long answer**.',
  ].join(' ')

const subjects = ['facts', 'folds', 'views', 'pages', 'leases', 'approvals', 'tools', 'ends']

/** Several screens, with every kind of text that an interface must render. */
export function longAnswer(): string {
  const sections = subjects.map((subject, index) =>
    [
      `## ${index + 1}. About ${subject}`,
      `This part is about ${subject}. It is written by a demo model, so it says little and takes its time.`,
      `Whatever is said here about ${subject} was stored before you could read it, and a reload shows the same words.`,
      `- The first thing about ${subject}\n- The second thing about ${subject}\n- *The third*, with \`code\``,
      index === 0 ? '| column | value |\n|---|---|\n| one | 1 |\n| two | 2 |' : '',
      index === 1 ? '```ts\nconst turn = foldTurn(emptyTurn(id, 1, 0), events)\n```' : '',
    ]
      .filter((paragraph) => paragraph !== '')
      .join('\n\n'),
  )
  return ['# A long answer', ...sections, 'That was the long answer.'].join('\n\n')
}

const mostTitle = 60

/** A note that takes a while to write: the same subject gives the same text. Its title is a valid file name. */
export function noteAbout(subject: string): { readonly title: string; readonly text: string } {
  const plain = subject
    .replaceAll(/[^\p{L}\p{M}\p{N} '’-]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(/^[ '’-]+/, '')
    .slice(0, mostTitle)
    .trim()
  const name = plain === '' ? 'Nothing in particular' : plain
  const text = [
    `This note is about ${subject}. A demo model writes it, word by word, and what you see of it is already stored.`,
    '## What is known',
    `- There is more to ${subject} than one would think.\n- Nobody has measured all of it.\n- **Most of it** can be learned in an afternoon.`,
    '## What to do next',
    `1. Ask somebody who knows about ${subject}.\n2. Write down what they say.\n3. Read it again in a week.`,
    `Reload the page while this grows: it goes on from the same word.`,
  ].join('\n\n')
  return { title: name.charAt(0).toUpperCase() + name.slice(1), text }
}
