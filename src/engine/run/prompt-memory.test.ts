import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { parseOwnerId } from '../../core/ids.ts'
import type { HistorySource } from '../model/read-history.ts'
import { longestHistoryChars, smallHistoryChars } from '../options/options.ts'
import { createPromptMemory } from './prompt-memory.ts'

const ann = parseOwnerId('ann')
const limits = {
  historyChars: { perKey: 2 * longestHistoryChars, ofAll: 10 * longestHistoryChars },
  fileBytes: { perKey: 100, ofAll: 1_000 },
}

function createScene() {
  const memory = createPromptMemory(limits)
  const done: string[] = []
  const open = () => memory.open(ann, new AbortController().signal)
  const note = (name: string, work: Promise<unknown>) => void work.then(() => done.push(name))
  return { open, note, done }
}
const historyOf = (chars: number): HistorySource => {
  const read = async () => ({ messages: [], chars })
  return { read, readSmall: async () => (chars <= smallHistoryChars ? read() : null) }
}
const large = smallHistoryChars + 1

it('[OP7] a run reads a large history when there is room for any, and holds what it has read; a small one is read at once', async () => {
  const { open, note, done } = createScene()
  const [first, second, third] = [open(), open(), open()]
  note('first', first.readHistory(historyOf(longestHistoryChars)))
  note('second', second.readHistory(historyOf(longestHistoryChars)))
  note('third', third.readHistory(historyOf(large)))
  await setImmediate()
  expect(done).toEqual(['first', 'second'])
  first.release()
  await setImmediate()
  expect(done).toEqual(['first', 'second', 'third'])
  // What the third has read, and one whole history: there is room for no other that may be as large.
  note('fourth', open().readHistory(historyOf(large)))
  note('small', open().readHistory(historyOf(smallHistoryChars)))
  await setImmediate()
  expect(done).toEqual(['first', 'second', 'third', 'small'])
})

it('[OP7] a run waits for its files once; those of later steps count without waiting', async () => {
  const { open, note, done } = createScene()
  const [first, second] = [open(), open()]
  await first.holdFiles(60)
  note('second', second.holdFiles(60))
  await first.holdFiles(90)
  await setImmediate()
  expect(done).toEqual([])
  // Fewer were loaded than could have been.
  first.countFiles(40)
  await setImmediate()
  expect(done).toEqual(['second'])
})
