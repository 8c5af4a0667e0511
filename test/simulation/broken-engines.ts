import type { LanguageModel } from 'ai'
import { createHoldfast, type Holdfast, type HoldfastOptions } from 'holdfast'

/** An engine that is made with other options, or whose verbs are others, than it should. */
export type Create = (options: HoldfastOptions) => Holdfast

export const withOptions =
  (change: (options: HoldfastOptions) => Partial<HoldfastOptions>): Create =>
  (options) =>
    createHoldfast({ ...options, ...change(options) })

export const withVerbs =
  (change: (holdfast: Holdfast) => Partial<Holdfast>): Create =>
  (options) => {
    const holdfast = createHoldfast(options)
    return { ...holdfast, ...change(holdfast) }
  }

type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>
type Call = Parameters<Model['doStream']>[0]

export const withModel = (change: (call: Call) => Call): Create =>
  withOptions(({ model }) => {
    const inner = model as Model
    return { model: { ...inner, doStream: (call: Call) => inner.doStream(change(call)) } }
  })
