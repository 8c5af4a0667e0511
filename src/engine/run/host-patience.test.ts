import { expect, it } from 'vitest'
import { createScriptedClock } from '../../../test/support/scripted-clock.ts'
import { createHostPatience } from './host-patience.ts'

it('[ST1] functions that never return are waited for two seconds in all, from the interruption on', async () => {
  const clock = createScriptedClock()
  const controller = new AbortController()
  const patience = createHostPatience(clock, controller.signal)
  const left: string[] = []
  const call = (name: string) =>
    patience(new Promise<never>(() => {})).catch((error: unknown) => {
      left.push(`${name}: ${String(error)}`)
    })
  void call('before')
  await clock.advance(60_000)
  expect(left).toEqual([])
  controller.abort('stop')
  await clock.advance(1_500)
  void call('after')
  await clock.advance(499)
  expect(left).toEqual([])
  await clock.advance(1)
  expect(left).toEqual(['before: stop', 'after: stop'])
  void call('late')
  await clock.advance(0)
  expect(left.at(-1)).toBe('late: stop')
  expect(clock.timers()).toEqual([])
})

it('[ST1] what is returned or thrown is passed on, before and after the interruption', async () => {
  const controller = new AbortController()
  const patience = createHostPatience(createScriptedClock(), controller.signal)
  expect(await patience('value')).toBe('value')
  controller.abort('stop')
  expect(await patience(Promise.resolve('value'))).toBe('value')
  await expect(patience(Promise.reject(new Error('own')))).rejects.toThrow('own')
})
