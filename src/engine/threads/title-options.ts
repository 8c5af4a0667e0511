import type { LanguageModel } from 'ai'

export { titlePromptStart } from '../../views/title-text.ts'

/** How threads are named by a model (FK3). */
export interface TitleOptions {
  /** The model that names them; of a list, the next where one fails. @default the model of the answer */
  readonly model?: LanguageModel | readonly LanguageModel[]
  /** The instructions for the model. @default three to six words, in the language of the conversation */
  readonly instructions?: string
}
