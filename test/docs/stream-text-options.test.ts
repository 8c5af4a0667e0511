import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentRules, engineRules } from '../../src/engine/options/option-rules.ts'
import { streamTextOptions, toStreamTextGuide } from '../../scripts/stream-text-options.ts'
import { readProjectFile } from '../support/read-files.ts'

const names = Object.keys(streamTextOptions)

test('[AG4] the guide says of every option of streamText what becomes of it', () => {
  expect(readProjectFile('docs/guides/stream-text-options.md')).toBe(toStreamTextGuide())
})

// The types say the same to the compiler; this says it where tests run on another version of the SDK.
test('[AG4] no option of the installed SDK is overlooked', () => {
  const sdk = join(createRequire(import.meta.url).resolve('ai'), '..')
  const types = readFileSync(join(sdk, 'index.d.ts'), 'utf8')
  const [, taken = ''] =
    /function streamTextInternal<.*?>\(\{ (.*?), \.\.\.settings \}:/s.exec(types) ?? []
  const options = taken
    .replaceAll(/\{[^}]*\}/g, '')
    .split(',')
    .map((option) => option.split(':')[0]?.trim() ?? '')
  expect(options.length).toBeGreaterThan(40)
  expect(options.filter((option) => !names.includes(option))).toEqual([])
})

test('[AG4] what is said to be the same is an option here, and what is not here is none', () => {
  const ours = Object.keys({ ...agentRules, ...engineRules })
  const wrong = Object.entries(streamTextOptions).filter(([name, [is]]) =>
    is === 'same' ? !ours.includes(name) : is === 'not here' && ours.includes(name),
  )
  expect(wrong).toEqual([])
})
