import { describe, expect, it } from 'vitest'
import { type DemoTask, parseDemoTask } from './demo-phrases.ts'

describe('parseDemoTask', () => {
  it.each<[string, DemoTask]>([
    ['weather in Paris', { type: 'weather', cities: ['Paris'] }],
    ["What's the WEATHER IN são paulo, please?", { type: 'weather', cities: ['são paulo'] }],
    ['weather in Rome, Oslo and Bonn', { type: 'weather', cities: ['Rome', 'Oslo', 'Bonn'] }],
    ['the time in Tokyo and the weather there', { type: 'time-and-weather', city: 'Tokyo' }],
    ['time in New York right now?', { type: 'time', city: 'New York' }],
    ['stock TSLA', { type: 'stock', ticker: 'TSLA' }],
    ['show me the stock price of $brk.b', { type: 'stock', ticker: 'BRK.B' }],
    ['AFL code for a moving average cross', { type: 'afl', subject: 'a moving average cross' }],
    ['search my notes for milk', { type: 'search-notes', query: 'milk' }],
    ['delete note Travel', { type: 'delete-notes', titles: ['Travel'] }],
    ['delete the note “Ideas”.', { type: 'delete-notes', titles: ['Ideas'] }],
    [
      'delete notes Groceries, Meeting, and Travel',
      { type: 'delete-notes', titles: ['Groceries', 'Meeting', 'Travel'] },
    ],
    [
      'Delete notes Travel and Ideas while the slow tool runs for 600',
      { type: 'delete-notes', titles: ['Travel', 'Ideas'], waitSeconds: 600 },
    ],
    ['write a note about green tea', { type: 'write-note', subject: 'green tea' }],
    ['Please write me a note on a long story.', { type: 'write-note', subject: 'a long story' }],
    ['write a note about ?', { type: 'talk', text: 'write a note about ?' }],
    ['call 30 tools', { type: 'call-many', count: 30 }],
    ['Call 12 tools, one fails', { type: 'call-many', count: 12, fails: true }],
    ['call 8 tools and wait 600', { type: 'call-many', count: 8, waitSeconds: 600 }],
    [
      'call 8 tools, one fails, then wait 9999',
      { type: 'call-many', count: 8, fails: true, waitSeconds: 3_600 },
    ],
    ['call 1 tool', { type: 'call-many', count: 1 }],
    ['call 0 tools', { type: 'call-many', count: 1 }],
    ['call 99999 tools', { type: 'call-many', count: 500 }],
    ['fail tool', { type: 'fail-tool' }],
    ['slow tool 5', { type: 'slow-tool', seconds: 5 }],
    ['slow tool 0.5', { type: 'slow-tool', seconds: 0.5 }],
    ['slow tool', { type: 'slow-tool', seconds: 3 }],
    ['charge card', { type: 'charge-card', amount: 42 }],
    ['charge my card 19.99 EUR', { type: 'charge-card', amount: 19.99 }],
    ['provider error', { type: 'provider-error' }],
    ['cut off', { type: 'cut-off' }],
    ['no final text', { type: 'no-final-text' }],
    ['write a long answer', { type: 'long-answer' }],
    ['weather in ?', { type: 'talk', text: 'weather in ?' }],
    ['hello', { type: 'talk', text: 'hello' }],
    ['', { type: 'talk', text: '' }],
  ])('%s', (text, task) => {
    expect(parseDemoTask(text)).toEqual(task)
  })
})
