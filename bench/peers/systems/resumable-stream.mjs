import { createResumableStreamContext } from 'resumable-stream/generic'
import { show } from '../script.mjs'
import { open as openAiSdk } from './ai-sdk.mjs'

/**
 * The same with `resumable-stream`, which lets a reload join the stream. What stands for Redis lives in the process that started
 * this one, and outlives it.
 */
export async function open(address) {
  const listeners = new Map()
  const waiting = new Map()
  let count = 0
  process.on('message', ({ reply, channel, message, value }) => {
    if (reply !== undefined) waiting.get(reply)?.(value)
    else listeners.get(channel)?.(message)
  })
  const callParent = (verb, ...args) =>
    new Promise((resolve) => {
      waiting.set(++count, resolve)
      process.send({ id: count, verb, args })
    })
  const context = createResumableStreamContext({
    waitUntil: null,
    publisher: {
      connect: async () => undefined,
      publish: (channel, message) => callParent('publish', channel, message),
      set: (key, value) => callParent('set', key, value),
      get: (key) => callParent('get', key),
      incr: (key) => callParent('incr', key),
    },
    subscriber: {
      connect: async () => undefined,
      subscribe: async (channel, callback) => {
        listeners.set(channel, callback)
        await callParent('subscribe', channel)
      },
      unsubscribe: async (channel) => {
        listeners.delete(channel)
        await callParent('unsubscribe', channel)
      },
    },
  })
  const wrap = async (threadId, chunks) => {
    const stream = await context.createNewResumableStream(threadId, () =>
      ReadableStream.from(
        (async function* () {
          for await (const chunk of chunks) yield `${JSON.stringify(chunk)}\n`
        })(),
      ),
    )
    return (async function* () {
      for await (const line of stream) yield JSON.parse(line)
    })()
  }
  const opened = await openAiSdk(address, wrap)
  return {
    ...opened,
    /** A reload asks for the stream; where its process is gone nobody answers. */
    async recover(threadId) {
      const stream = await Promise.race([
        context.resumeExistingStream(threadId).catch(() => null),
        new Promise((resolve) => setTimeout(() => resolve(null), 3_000)),
      ])
      if (stream) show({ kind: 'resumed' })
    },
    async close() {
      await opened.close()
      process.disconnect()
    },
  }
}
