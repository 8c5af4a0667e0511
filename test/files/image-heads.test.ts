import { createHoldfast, memory } from 'holdfast'
import { expect, it, onTestFinished } from 'vitest'
import { settled } from '../support/scripted-clock.ts'

const segment = Buffer.concat([Buffer.from([0xff, 0xe1, 0xff, 0xff]), Buffer.alloc(65_533)])
/** The size of a JPEG, which may come after any number of segments; and its end. */
const size = Buffer.from([0xff, 0xc0, 0, 17, 8, 0, 1, 0, 1, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])
const end = Buffer.from([0xff, 0xd9])

/** An image that stops after so many segments until it may end, and how many of them were taken. */
function startImage(segments: number) {
  const mayEnd = Promise.withResolvers<void>()
  let taken = 0
  async function* content() {
    yield Buffer.from([0xff, 0xd8])
    for (; taken < segments; taken++) yield segment
    await mayEnd.promise
    yield Buffer.concat([size, end])
  }
  return { content: content(), taken: () => taken, mayEnd }
}

it('[OP7] of the images of one person whose size comes late, one is held at a time, and those of others pass', async () => {
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const images = Array.from({ length: 20 }, () => startImage(20))
  const added = images.map(({ content }) => holdfast.files.add({ ownerId: 'eve', content }))
  await settled()
  const taken = images.map((image) => image.taken())
  expect(taken.filter((count) => count === 20)).toHaveLength(1)
  // The others are read as far as the type of every file is looked for.
  expect(taken.filter((count) => count > 2)).toHaveLength(1)
  const other = startImage(20)
  other.mayEnd.resolve()
  const file = await holdfast.files.add({ ownerId: 'ana', content: other.content })
  expect(file).toMatchObject({ mediaType: 'image/jpeg', width: 1, height: 1 })
  for (const { mayEnd } of images) mayEnd.resolve()
  const files = await Promise.all(added)
  const bytes = 2 + 20 * segment.byteLength + size.byteLength + end.byteLength
  expect(files.map((each) => each.bytes)).toEqual(images.map(() => bytes))
})
