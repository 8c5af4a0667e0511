import { expect, it } from 'vitest'
import { readImageSize } from './image-size.ts'

const be = (value: number) => [value >> 8, value & 255]

const box = (type: string, ...content: readonly number[]): readonly number[] => [
  ...[0, 0, ...be(content.length + 8)],
  ...Buffer.from(type),
  ...content,
]

function avif(...sizes: readonly (readonly [number, number])[]): number[] {
  const each = sizes.map(([width, height]) =>
    box('ispe', 0, 0, 0, 0, 0, 0, ...be(width), 0, 0, ...be(height)),
  )
  const meta = box('meta', 0, 0, 0, 0, ...box('iprp', ...box('ipco', ...each.flat())))
  return [...box('ftyp', ...Buffer.from('avif0000')), ...meta]
}

it.each([
  ['image/png', [...Array<number>(16).fill(0), 0, 0, ...be(640), 0, 0, ...be(480)], 640, 480],
  ['image/gif', [...Buffer.from('GIF89a'), 128, 2, 224, 1, 0, 0, 0, 0x3b], 640, 480],
  [
    'image/gif',
    // Its first frame is larger than its screen, and follows two colours and a comment.
    [
      ...Buffer.from('GIF89a'),
      ...[1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255, 0x21, 0xfe, 2, 65, 66, 0],
      ...[0x2c, 0, 0, 0, 0, 128, 2, 224, 1],
    ],
    640,
    480,
  ],
  ['image/avif', avif([16, 16], [640, 480], [320, 200]), 640, 480],
  [
    'image/jpeg',
    // A preview of 6 bytes comes before the frame.
    [
      0xff,
      0xd8,
      0xff,
      0xe1,
      0,
      8,
      1,
      2,
      3,
      4,
      5,
      6,
      0xff,
      0xff,
      0xc2,
      0,
      17,
      8,
      ...be(480),
      ...be(640),
    ],
    640,
    480,
  ],
  [
    'image/webp',
    [...Buffer.from('RIFF0000WEBPVP8X'), ...Array<number>(8).fill(0), 127, 2, 0, 223, 1, 0],
    640,
    480,
  ],
])('[FL1] reads the size of %s from its header', (type, bytes, width, height) => {
  expect(readImageSize(Uint8Array.from(bytes), type)).toEqual({ width, height })
})

it('[FL1] returns undefined for what is cut off or no image', () => {
  expect(readImageSize(new Uint8Array(10), 'image/png')).toBeUndefined()
  expect(readImageSize(Uint8Array.from([0xff, 0xd8, 1, 2]), 'image/jpeg')).toBeUndefined()
  expect(
    readImageSize(Uint8Array.from([0xff, 0xd8, 0xff, 0xe1, 255, 255]), 'image/jpeg'),
  ).toBeUndefined()
  expect(readImageSize(new Uint8Array(100), 'application/pdf')).toBeUndefined()
  expect(readImageSize(new Uint8Array(100), 'image/png')).toBeUndefined()
  expect(readImageSize(Uint8Array.from(avif([1, 1])).subarray(0, 60), 'image/avif')).toBe(undefined)
  expect(readImageSize(new Uint8Array(100), 'image/avif')).toBeUndefined()
  expect(readImageSize(Uint8Array.from(avif()), 'image/avif')).toBeUndefined()
})
