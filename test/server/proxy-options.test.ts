import { createHoldfast, memory } from 'holdfast'
import { createRecordingProxy } from 'holdfast/server'
import { expect, it } from 'vitest'

const target = new URL('http://127.0.0.1:1/')

it.each([
  [{}, 'createRecordingProxy needs the option "target": a URL.'],
  [{ target: 'http://127.0.0.1:1/' }, 'createRecordingProxy: the option "target" must be a URL'],
  [{ target, forwardHeaders: [7] }, 'the option "forwardHeaders" must be a list of names'],
  [{ target, fetch: true }, 'createRecordingProxy: the option "fetch" must be a function'],
  [{ target, keepAliveMs: 0 }, 'createRecordingProxy: the option "keepAliveMs" must be'],
  [{ target, forwardHeader: [] }, 'createRecordingProxy'],
])('[CF1] refuses the options %j of the recording proxy by name', (options, words) => {
  const holdfast = createHoldfast({ store: memory() })
  expect(() => createRecordingProxy(holdfast, options as never)).toThrow(words)
})
