import { titlePromptStart } from '../engine/threads/title-options.ts'

const mostWords = 6

/**
 * The demo model's response to a title prompt: the first words of the first user message. Undefined: it is another
 * prompt.
 */
export function demoTitleOf(prompt: string): string | undefined {
  if (!prompt.startsWith(titlePromptStart)) return undefined
  const [, question = ''] = /^(?:User|Assistant): ([^\n]*)/m.exec(prompt) ?? []
  const words = question.split(/\s+/).filter((word) => word !== '')
  const title = words
    .slice(0, mostWords)
    .join(' ')
    .replace(/[.,;:!?…]+$/u, '')
  return title === '' ? 'A short talk' : `${title.slice(0, 1).toUpperCase()}${title.slice(1)}`
}
