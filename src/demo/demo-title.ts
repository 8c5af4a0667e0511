import { titlePromptStart } from '../engine/title-options.ts'

const mostWords = 6

/**
 * What the demo model answers where it is asked for a title: the first words of what the user said first. Undefined: it is asked for
 * something else.
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
