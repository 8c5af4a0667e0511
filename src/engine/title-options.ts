import type { LanguageModel } from 'ai'

export { titlePromptStart } from '../views/title-text.ts'

/** How threads get titles from a model (FK3). */
export interface TitleOptions {
  /** Who makes them; of a list, the next where one fails. @default the model of the answer */
  readonly model?: LanguageModel | readonly LanguageModel[]
  /** What the model is told. @default three to six words, in the language of the conversation */
  readonly instructions?: string
}
