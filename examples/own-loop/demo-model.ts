import type { LanguageModel } from 'ai'
import { scriptedModel } from 'holdfast/testing'

/** In the place of a real one: asks to delete a note, and says so when it has been told. */
export const createDemoModel = (): LanguageModel =>
  scriptedModel(({ prompt }) =>
    prompt.at(-1)?.role === 'tool'
      ? [{ text: 'It is gone.' }]
      : [{ text: 'Let me delete it.' }, { call: 'delete_note', input: { title: 'Ideas' } }],
  )
