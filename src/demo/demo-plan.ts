import { assertNever } from '../core/assert-never.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import { longAnswer, noteAbout, reportResults, talk } from './demo-answers.ts'
import { type DemoTask, parseDemoTask } from './demo-phrases.ts'
import type { DemoConversation, DemoResult } from './demo-prompt.ts'
import type { DemoUtterance } from './demo-stream.ts'

/** The next step, from the request and the results so far. */
export function planDemoStep(conversation: DemoConversation): readonly DemoUtterance[] {
  const task = parseDemoTask(conversation.text)
  const { results } = conversation
  if (task.type === 'search-notes') return planSearch(task.query, results)
  if (task.type === 'write-note' && results.every(wasBrokenOff)) return begin(task, conversation)
  if (results.length === 0) return begin(task, conversation)
  if (task.type === 'write-note') return [{ text: reportResults(results.slice(-1)) }]
  return task.type === 'no-final-text' ? [] : [{ text: reportResults(results) }]
}

function begin(task: DemoTask, conversation: DemoConversation): readonly DemoUtterance[] {
  switch (task.type) {
    case 'weather':
      return task.cities.map((city) => call('get_weather', { city }))
    case 'time':
      return [call('get_time', { city: task.city })]
    case 'time-and-weather':
      return [call('get_time', { city: task.city }), call('get_weather', { city: task.city })]
    case 'stock':
      return [call('get_stock', { ticker: task.ticker })]
    case 'afl':
      return [call('get_afl_code', { subject: task.subject })]
    case 'delete-notes':
      return [
        { text: `You will be asked before anything is deleted.` },
        ...task.titles.map((title) => call('delete_note', { title })),
        ...(task.waitSeconds === undefined
          ? []
          : [call('slow_tool', { seconds: task.waitSeconds })]),
      ]
    case 'write-note':
      return [call('write_note', noteAbout(task.subject))]
    case 'call-many':
      return planMany(task)
    case 'fail-tool':
      return [
        call('numbered_tool', { number: 1 }),
        call('fail_tool', {}),
        call('numbered_tool', { number: 3 }),
      ]
    case 'slow-tool':
      return [call('slow_tool', { seconds: task.seconds })]
    case 'charge-card':
      return [call('charge_card', { amount: task.amount, currency: 'EUR' })]
    case 'no-final-text':
      return [call('numbered_tool', { number: 1 }), call('numbered_tool', { number: 2 })]
    case 'provider-error':
      return [
        { text: 'Let me look at the weather first. ' },
        call('get_weather', { city: 'Paris' }),
        { text: 'While that is being looked up, I can already say ' },
        { fails: 'The demo provider failed, as it was asked to.' },
      ]
    case 'cut-off':
      return [
        { text: 'This answer is about to reach its limit.' },
        { call: 'get_weather', cutInput: '{"city":"Par' },
      ]
    case 'long-answer':
      return [{ text: goOnFrom(longAnswer(), conversation.answered) }]
    case 'search-notes':
      return planSearch(task.query, [])
    case 'talk':
      return [{ text: talk(task.text, conversation.messages) }]
    default:
      return assertNever(task)
  }
}

function planMany(task: Extract<DemoTask, { readonly type: 'call-many' }>) {
  const { count, fails, waitSeconds } = task
  const calls = Array.from({ length: count }, (_, index) =>
    fails === true && index === Math.min(2, count - 1)
      ? call('fail_tool', {})
      : call('numbered_tool', { number: index + 1 }),
  )
  return waitSeconds === undefined ? calls : [...calls, call('slow_tool', { seconds: waitSeconds })]
}

/** The call had no effect and was not rejected: it is made again. */
const wasBrokenOff = ({ outcome }: DemoResult): boolean =>
  !outcome.ok && /^(?:This call was broken off|The user stopped this call)/.test(outcome.error)

const mostNotes = 2

/** Searches, reads what it found, answers; and announces each. */
function planSearch(query: string, results: readonly DemoResult[]): readonly DemoUtterance[] {
  const search = results.find(({ name }) => name === 'search_notes')
  if (search === undefined) {
    return [{ text: `Let me search your notes for “${query}”.` }, call('search_notes', { query })]
  }
  const titles = search.outcome.ok ? titlesIn(search.outcome.value) : []
  if (titles.length === 0 || results.some(({ name }) => name === 'read_note')) {
    return [{ text: reportResults(results) }]
  }
  const found = titles.length === 1 ? 'one note' : `${titles.length} notes`
  return [
    { text: `I found ${found}. Let me read what stands there.` },
    ...titles.slice(0, mostNotes).map((title) => call('read_note', { title })),
  ]
}

function titlesIn(value: Json): readonly string[] {
  const found = isJsonObject(value) ? value.results : undefined
  if (!Array.isArray(found)) return []
  return found.flatMap((each: Json) =>
    isJsonObject(each) && typeof each.title === 'string' ? each.title : [],
  )
}

const goOnFrom = (whole: string, answered: string): string =>
  whole.startsWith(answered) ? whole.slice(answered.length) : whole

const call = (name: string, input: Json): DemoUtterance => ({ call: name, input })
