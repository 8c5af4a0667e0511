import { createHoldfast, memory } from 'holdfast'
import { expect, it, onTestFinished } from 'vitest'
import { createScriptedClock, settled } from '../support/scripted-clock.ts'

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

it('[OP7] an image whose size does not arrive gives its place up after 30 seconds, to its owner and to others', async () => {
  const clock = createScriptedClock()
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0, clock })
  onTestFinished(() => holdfast.close())
  const results: string[] = []
  const add = async (ownerId: string, { content }: ReturnType<typeof startImage>) => {
    const added = holdfast.files.add({ ownerId, content })
    const result = await added.then((file) => file.mediaType, String)
    results.push(`${ownerId}: ${result}`)
  }
  const complete = () => {
    const image = startImage(20)
    image.mayEnd.resolve()
    return image
  }
  const stalled = Array.from({ length: 16 }, () => startImage(20))
  for (const [number, image] of stalled.entries()) void add(`eve-${number}`, image)
  await settled()
  void add('eve-0', complete())
  void add('ana', complete())
  await clock.advance(29_999)
  expect(results).toEqual([])
  await clock.advance(1)
  const refused = stalled.map(
    (_, number) =>
      `eve-${number}: HoldfastError: The size of this image has not arrived within 30 seconds.`,
  )
  expect(results.toSorted()).toEqual(
    [...refused, 'ana: image/jpeg', 'eve-0: image/jpeg'].toSorted(),
  )
  expect(clock.timers()).not.toContain(30_000)
  // What arrives afterwards is not read.
  for (const { mayEnd } of stalled) mayEnd.resolve()
  await settled()
  expect(results).toHaveLength(18)
})
