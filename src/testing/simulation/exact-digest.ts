import { createHash } from 'node:crypto'

let users = 0

/**
 * WebCrypto answers from a thread of its own, at a moment that no seed decides. While a simulation
 * runs, the same digest is computed at once.
 */
export async function withExactDigest<Result>(work: () => Promise<Result>): Promise<Result> {
  const { subtle } = crypto
  users++
  Object.defineProperty(subtle, 'digest', { configurable: true, value: digest })
  try {
    return await work()
  } finally {
    // The real one is on the prototype.
    if (--users === 0) Reflect.deleteProperty(subtle, 'digest')
  }
}

async function digest(algorithm: string, data: Uint8Array): Promise<ArrayBuffer> {
  const hash = createHash(algorithm.replace('-', '').toLowerCase()).update(data).digest()
  return new Uint8Array(hash).buffer
}
