import { expect, it } from 'vitest'
import { finish, partModel, textParts } from '../support/part-model.ts'
import { createFixture } from './fixture.ts'

it.each([5, 5n])(
  '[LG3 ST2] a turn that fails with something that cannot be stored (a model called %s) ends, and the next one works',
  async (name) => {
    const { model } = partModel(
      [{ type: 'error', error: new Error('down') }],
      [...textParts('Hello.'), finish()],
    )
    let modelId: unknown = name
    const odd = Object.defineProperty({ ...(model as object) }, 'modelId', { get: () => modelId })
    const agent = { model: odd as typeof model, maxRetries: 0 }
    const fixture = await createFixture(() => [], { agent })
    expect((await fixture.runTurn('go')).progress).toMatchObject({ ending: { kind: 'failed' } })
    modelId = 'sound'
    expect((await fixture.runTurn('again')).progress).toMatchObject({
      ending: { kind: 'completed' },
    })
    expect(fixture.log.filter(({ type }) => type === 'turn-lost')).toEqual([])
  },
)
