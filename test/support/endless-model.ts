import type { LanguageModel } from 'ai'

type Model = Exclude<LanguageModel, string> & { readonly specificationVersion: 'v4' }
type Stream = Awaited<ReturnType<Model['doStream']>>['stream']
export type EndlessPart = Stream extends ReadableStream<infer Part> ? Part : never

export type EndlessModel = Model & {
  /** How many of its streams were told that nobody reads them any more. */
  readonly cancelled: () => number
  /** How many parts it was asked for. */
  readonly produced: () => number
}

/** A model that never stops by itself: what it says is made as it is read. */
export function endlessModel(parts: (index: number) => readonly EndlessPart[]): EndlessModel {
  let cancelled = 0
  let produced = 0
  return {
    specificationVersion: 'v4',
    provider: 'endless',
    modelId: 'endless',
    supportedUrls: {},
    cancelled: () => cancelled,
    produced: () => produced,
    doGenerate: () => Promise.reject(new Error('It only streams.')),
    doStream: () => {
      let index = 0
      const stream: Stream = new ReadableStream({
        start: (controller) => controller.enqueue({ type: 'stream-start', warnings: [] }),
        pull(controller) {
          produced += 1
          // So that a test of something without an end has one.
          if (index > 200_000) controller.error(new Error('It was never told to stop.'))
          for (const part of parts(index++)) controller.enqueue(part)
        },
        cancel() {
          cancelled += 1
        },
      })
      return Promise.resolve({ stream })
    },
  }
}
