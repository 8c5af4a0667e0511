import { expect, it } from 'vitest'
import { toChoiceFields, toPicks } from './choice-fields.ts'

const models = [
  { id: 'a', label: 'Model A' },
  { id: 'b', label: 'Model B' },
]
const schemaOf = (properties: object) => ({ type: 'object', properties: properties as never })

it('[AG2a] shows the model where there are several, a switch for a boolean and a select for words', () => {
  const choices = schemaOf({
    model: { type: 'string', default: 'b' },
    webSearch: { type: 'boolean', default: true, description: 'Looks things up.' },
    depth: { enum: ['quick', 'very_deep'], title: 'How deep' },
    budget: { type: 'number' },
  })
  expect(toChoiceFields({ models, choices })).toEqual([
    {
      kind: 'select',
      name: 'model',
      options: [
        { value: 'a', label: 'Model A' },
        { value: 'b', label: 'Model B' },
      ],
      default: 'b',
    },
    {
      kind: 'switch',
      name: 'webSearch',
      label: 'Web search',
      description: 'Looks things up.',
      default: true,
    },
    {
      kind: 'select',
      name: 'depth',
      label: 'How deep',
      options: [
        { value: 'quick', label: 'Quick' },
        { value: 'very_deep', label: 'Very deep' },
      ],
      default: 'quick',
    },
  ])
})

it('[AG2a] shows nothing where there is nothing to choose', () => {
  expect(toChoiceFields({ models: [], choices: null })).toEqual([])
  const one = { models: models.slice(0, 1), choices: schemaOf({ model: { type: 'string' } }) }
  expect(toChoiceFields(one)).toEqual([])
  expect(toChoiceFields({ models, choices: { properties: [] } })).toEqual([])
})

it('[AG2a] keeps of what was chosen before what can still be chosen', () => {
  const choices = schemaOf({ model: { type: 'string' }, web: { type: 'boolean' } })
  const fields = toChoiceFields({ models, choices })
  expect(toPicks(fields, { model: 'b', web: true, more: 1 })).toEqual({ model: 'b', web: true })
  expect(toPicks(fields, { model: 'gone', web: 'yes' })).toEqual({ model: 'a', web: false })
  expect(toPicks(fields, undefined)).toEqual({ model: 'a', web: false })
})
