import type { LanguageModel } from 'ai'
import { type Clock, wait } from '../../engine/clock.ts'
import type { Random } from '../random.ts'

type Model = Exclude<LanguageModel, string> & { readonly specificationVersion: 'v4' }

/** The same model, now and then at a loss for words: between any two parts, time may pass. */
export function withPauses(model: LanguageModel, clock: Clock, random: Random): LanguageModel {
  const inner = model as Model
  return {
    ...inner,
    async doStream(call: Parameters<Model['doStream']>[0]) {
      const answer = await inner.doStream(call)
      const reader = answer.stream.getReader()
      const stream: typeof answer.stream = new ReadableStream({
        async pull(controller) {
          if (random.chance(0.12)) {
            await wait(clock, random.pick([1, 12, 40, 300]), call.abortSignal)
          }
          const next = await reader.read()
          if (next.done) controller.close()
          else controller.enqueue(next.value)
        },
        cancel: (reason) => reader.cancel(reason),
      })
      return { ...answer, stream }
    },
  }
}
