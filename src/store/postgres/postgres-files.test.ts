import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createPostgresFiles } from './postgres-files.ts'

it('[OP7] many transfers at once use two connections, and leave the others to everybody else', async () => {
  let [now, most, statements] = [0, 0, 0]
  const run = async <Row>(): Promise<readonly Row[]> => {
    statements++
    most = Math.max(most, ++now)
    await setImmediate()
    now--
    return [{ bytes: Buffer.from('words').toString('base64') } as Row]
  }
  const files = createPostgresFiles({ run }, 'holdfast')
  const ids = Array.from({ length: 50 }, (_, nth) => `file_${nth}`)
  async function* words() {
    yield Buffer.from('words')
  }
  await Promise.all(
    ids.map((id, nth) =>
      nth % 2 === 0 ? files.read(id) : files.write(id, words(), { mediaType: 'text/plain' }),
    ),
  )
  expect({ most, statements }).toEqual({ most: 2, statements: 50 })
})

/** Of a file of five pieces, a piece in each statement, one after the other unless two run at once. */
function openFiles(isHeld: (id: unknown) => boolean = () => false) {
  const moved: unknown[] = []
  const never = Promise.withResolvers<never>().promise
  const run = async <Row>(
    _: unknown,
    [id, nth]: readonly unknown[] = [],
  ): Promise<readonly Row[]> => {
    moved.push(id)
    await (isHeld(id) ? never : setImmediate())
    return Number(nth) < 5 ? [{ bytes: 'd29yZHM=' } as Row] : []
  }
  return { moved, files: createPostgresFiles({ run }, 'holdfast') }
}

it('[OP7] people take turns, however many transfers each has begun', async () => {
  const { files, moved } = openFiles()
  const download = async (id: string, user: string) => {
    for await (const _ of (await files.read(id, undefined, { user })) ?? []);
  }
  const begun = Array.from({ length: 50 }, (_, nth) => download(`eve-${nth}`, 'eve'))
  begun.push(...Array.from({ length: 20 }, (_, nth) => download(`ben-${nth}`, 'ben')))
  await setImmediate()
  const before = moved.length
  await download('ana', 'ana')
  // Six statements, between which each other person has had two or three.
  expect(moved.slice(before).filter((id) => id === 'ana')).toHaveLength(6)
  expect(moved.length - before).toBeLessThanOrEqual(6 * 6)
  await Promise.all(begun)
})

it('[OP7 FL2] what belongs to a turn does not wait for uploads and downloads', async () => {
  const { files } = openFiles((id) => String(id).startsWith('slow'))
  for (const user of ['eve', 'ben', 'cleo']) void files.read(`slow-${user}`, undefined, { user })
  await setImmediate()
  const pieces = await files.read('quick', undefined, { user: 'eve', isForTurn: true })
  expect(Buffer.concat(await Array.fromAsync(pieces ?? [])).toString()).toBe('words'.repeat(5))
})

it('[FL1] of a range, only the bytes in it are asked for', async () => {
  const asked: unknown[] = []
  const run = async <Row>(_: unknown, values: readonly unknown[] = []) => {
    asked.push(values)
    return Number(values[1]) < 5 ? [{ bytes: '' } as Row] : []
  }
  const files = createPostgresFiles({ run }, 'holdfast')
  for await (const _ of (await files.read('f', { start: 262_140, end: 524_289 })) ?? []);
  expect(asked).toEqual([
    ['f', 0, 262_141, 4],
    ['f', 1, 1, 262_144],
    ['f', 2, 1, 2],
  ])
})
