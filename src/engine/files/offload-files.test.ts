import { describe, expect, it } from 'vitest'
import { createScriptedClock, settled } from '../../../test/support/scripted-clock.ts'
import { toFileUrl } from '../../core/file.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { Json } from '../../core/json.ts'
import { parseMessageId, parseOwnerId, parseThreadId } from '../../core/ids.ts'
import { createHostPatience } from '../run/host-patience.ts'
import { createOffload, type OffloadTarget } from './offload-files.ts'

const image = `data:image/png;base64,${'A'.repeat(20_000)}`
const place = {
  ownerId: parseOwnerId('o'),
  threadId: parseThreadId('thread'),
  turnId: parseMessageId('turn'),
}

/** An offload over a file store that does as it is given, and what was asked of it and reported. */
function open(keep: () => Promise<string>) {
  const clock = createScriptedClock()
  const run = new AbortController()
  const failures: string[] = []
  let kept = 0
  const files = {
    keep: async () => {
      kept++
      return { id: await keep() }
    },
  } as unknown as OffloadTarget['files']
  const offload = createOffload({
    files,
    place,
    clock,
    failureTexts: { ofFiles: (error) => failures.push((error as Error).message) },
    signal: run.signal,
    patience: createHostPatience(clock, run.signal),
  })
  /** The value as it is stored, once it is known. */
  const start = (value: Json) => {
    const result: { value?: Json } = {}
    void offload(value).then((stored) => void (result.value = stored))
    return result
  }
  return { clock, run, failures, start, kept: () => kept }
}

const never = () => new Promise<never>(() => {})

describe('large files of results', () => {
  it('[FL1] are replaced wherever they are; everything else stays as it is', async () => {
    const { start } = open(async () => 'file_1')
    const value = { list: [1, { image }, 'data:short'], image, none: null }
    const result = start(value)
    await settled()
    const url = toFileUrl('file_1')
    expect(result.value).toEqual({ ...value, list: [1, { image: url }, 'data:short'], image: url })
  })

  it('[FL1 OP7] a file store that never answers is waited for once in a run, not once for each file', async () => {
    const { clock, start, kept, failures } = open(never)
    const first = start({ images: [image, image] })
    await clock.advance(29_999)
    expect(first).toEqual({})
    await clock.advance(1)
    expect(first.value).toEqual({ images: [image, image] })
    const second = start(image)
    await settled()
    expect(second.value).toBe(image)
    expect(kept()).toBe(1)
    expect(failures).toEqual(['It took longer than 30000 ms.'])
    expect(clock.timers()).toEqual([])
  })

  it('[FL1 OP7] a file store that fails late is not tried for every file', async () => {
    const late = open(
      () =>
        new Promise((_, reject) => {
          late.clock.after(16_000, () => reject(new Error('EIO')))
        }),
    )
    const result = late.start([image, image, image, image])
    await late.clock.advance(30_000)
    expect(result.value).toEqual([image, image, image, image])
    expect(late.kept()).toBe(2)
  })

  it('[FL1] given up at a file, the ones before it stay files', async () => {
    const ids = ['file_1', 'file_2']
    const { clock, start, failures } = open(async () => ids.shift() ?? never())
    const result = start([image, { image }, image, image])
    await clock.advance(30_000)
    const urls = [toFileUrl('file_1'), toFileUrl('file_2')]
    expect(result.value).toEqual([urls[0], { image: urls[1] }, image, image])
    expect(failures).toEqual(['It took longer than 30000 ms.'])
  })

  it('[FL1 ST1] a run that is interrupted waits two seconds, and keeps the result as it is: that is no failure', async () => {
    const { clock, run, start, failures } = open(never)
    const result = start(image)
    await clock.advance(5_000)
    run.abort(new Error('stopped'))
    await clock.advance(1_999)
    expect(result).toEqual({})
    await clock.advance(1)
    expect(result.value).toBe(image)
    await clock.advance(60_000)
    expect(failures).toEqual([])
  })

  it('[FL1 ST1] a file store that fails by itself while a run is interrupted has failed', async () => {
    const { run, start, failures } = open(() => Promise.reject(new Error('EIO')))
    run.abort(new Error('stopped'))
    const result = start(image)
    await settled()
    expect([result.value, failures]).toEqual([image, ['EIO']])
  })

  it('[FL1] what is refused stays as it is, and is no failure', async () => {
    const { start, failures } = open(() =>
      Promise.reject(new HoldfastError('file-type', 'Not this type.')),
    )
    const result = start([image, image])
    await settled()
    expect([result.value, failures]).toEqual([[image, image], []])
  })
})
